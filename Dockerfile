# An image that parses, built without a network from a folder of wheels. This file was not built where it was written:
# no Docker was at hand. Its steps are those of tests/test_packaging.py.
#
#   pip wheel --wheel-dir wheels "torch==2.13.0+cpu" . --extra-index-url https://download.pytorch.org/whl/cpu
#   docker build --network none --tag transition-parser .
#   echo "She sleeps." | docker run --rm --interactive transition-parser parse en-ewt -
#
# For an extra, `pip wheel ... ".[serve]"` and `--build-arg EXTRAS=[serve]`.
FROM python:3.11-slim

ARG EXTRAS=
COPY wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels "transition-parser${EXTRAS}" && rm -r /wheels

# fewer rights than root; files to be read and written are mounted into /data
RUN useradd --create-home parser
USER parser
WORKDIR /data
ENTRYPOINT ["transition-parser"]
CMD ["--help"]
