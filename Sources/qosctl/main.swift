print("qosctl")
