"""A server that speaks S3, with faults in some of its buckets. Scripts/s3-server starts it."""

import itertools
import json
import os
import sys
import threading

import boto3
from moto import settings
from moto.iam.access_control import IAMRequestBase
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

count = itertools.count(1)
ready = threading.Event()
request = threading.local()

# The server decodes an address before it looks at its signature, and so refuses each with an encoded slash. What was
# signed is the address as it came.
create = IAMRequestBase._create_aws_request


def create_as_sent(self):
    self._path = request.address
    return create(self)


IAMRequestBase._create_aws_request = create_as_sent


def answer(start, status, code):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>made by a test</Message></Error>".encode()
    start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
    return [body]


class Faults:
    """Lets requests fail, by the name of their bucket."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, environment, start):
        request.address = environment["RAW_URI"]
        bucket = environment["PATH_INFO"].lstrip("/").split("/")[0]
        if not ready.is_set():
            return self.inner(environment, start)
        if bucket == "skewed":
            return answer(start, "403 Forbidden", "RequestTimeTooSkewed")
        if bucket == "slow":
            # Until the client goes away: the test sets its patience.
            threading.Event().wait(3600)
        if bucket == "full" and environment["REQUEST_METHOD"] == "PUT":
            environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            return answer(start, "507 Insufficient Storage", "XMinioStorageFull")
        if bucket != "flaky":
            return self.inner(environment, start)
        number = next(count)
        if number % 3 == 0:
            environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            return answer(start, "503 Slow Down", "SlowDown")
        if number % 7 == 0 and environment["REQUEST_METHOD"] == "GET":
            # Fewer bytes than it says.
            start("200 OK", [("Content-Type", "application/xml"), ("Content-Length", "1000")])
            return [b"cut"]
        return self.inner(environment, start)


def main(path):
    application = Faults(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for bucket in ["repositories", "flaky", "full"]:
        boto3.client("s3", endpoint_url=address).create_bucket(Bucket=bucket)
    people = boto3.client("iam", endpoint_url=address)
    people.create_user(UserName="tester")
    everything = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}
    people.put_user_policy(UserName="tester", PolicyName="all", PolicyDocument=json.dumps(everything))
    key = people.create_access_key(UserName="tester")["AccessKey"]
    # From now on each request needs a key and a right signature.
    ready.set()
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    with open(path + ".new", "w") as file:
        file.write(f"QOS_TEST_S3=s3:{address}\n")
        file.write(f"AWS_ACCESS_KEY_ID={key['AccessKeyId']}\nAWS_SECRET_ACCESS_KEY={key['SecretAccessKey']}\n")
    os.rename(path + ".new", path)
    threading.Event().wait()


main(sys.argv[1])
