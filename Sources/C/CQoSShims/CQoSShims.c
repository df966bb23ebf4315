#include "CQoSShims.h"
