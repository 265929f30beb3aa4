# A static binary and nothing else: no shell, no package manager, no root.
# How to run it, and how to probe it: docs/installation.md.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN make build VERSION="$VERSION" && install -d -m 0700 /state/verifier

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/bin/verifier /src/bin/verifier-hook /
# Not used unless a command names it, as compose.yaml does.
COPY --from=build --chmod=0644 /src/packaging/docker/published.yaml /etc/verifier/published.yaml
# The directory comes along with its mode: a state directory that others can
# read is refused.
COPY --from=build --chown=65532:65532 /state/ /var/lib/
USER 65532:65532
ENV VERIFIER_STATE=/var/lib/verifier
VOLUME /var/lib/verifier
EXPOSE 8787
ENTRYPOINT ["/verifier"]
CMD ["serve"]
