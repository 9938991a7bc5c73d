# One static program and nothing else: docker build -t rowferry .
#   docker run -e ROWFERRY_USER=ada:secret -p 5432:5432 -v store:/data rowferry
FROM rust:1.95-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends libclang-dev musl-tools python3 && rm -rf /var/lib/apt/lists/*
RUN rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /src
COPY . .
RUN tools/build_static.sh >/tmp/path
RUN install -D "$(cat /tmp/path)" /out/rowferry \
    && python3 tools/notices.py rowferry-cli >/out/THIRD-PARTY.txt \
    && install -d -m 1777 /out/tmp \
    && install -d -o 10001 -g 10001 -m 0700 /out/data

FROM scratch
COPY --from=build /out/ /
USER 10001:10001
VOLUME /data
# PostgreSQL's clients, Informix's, MySQL's, Prometheus.
EXPOSE 5432 9088 3306 9187
# At the network it listens only when there are users (ROWFERRY_USER, --password-file) or rules (--hba).
ENTRYPOINT ["/rowferry"]
CMD ["serve", "/data/app.db", "--postgres", "0.0.0.0"]
