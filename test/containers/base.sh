#!/bin/bash
# Makes the base image that infra/Dockerfile names, from Debian's packages and the Node of the lockfile: no registry of
# images is asked. Arguments: the folder of buildah's storage, its driver, the name of the image, the pinned Node, the folder of npm.
# What this machine needs to reach its mirrors (certificates, settings of apt, pip and npm) goes into this base alone.
set -euo pipefail
storage=$1 driver=$2 image=$3 node=$4 npm=$5
buildah() { command buildah --root "$storage/root" --runroot "$storage/run" --storage-driver "$driver" "$@"; }

mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
rm -rf "$storage/rootfs"
debootstrap --variant=minbase --include=ca-certificates bookworm "$storage/rootfs" ${mirror:+"$mirror"} >"$storage/debootstrap.log" 2>&1
cd "$storage/rootfs"
rm -rf var/cache/apt/archives/*.deb var/lib/apt/lists/*
install -m 755 "$node" usr/local/bin/node
mkdir -p usr/local/lib/node_modules
cp -r "$npm" usr/local/lib/node_modules/npm
ln -s ../lib/node_modules/npm/bin/npm-cli.js usr/local/bin/npm
chroot . useradd -m -u 1000 node
cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ca-certificates.crt
for file in etc/pip.conf etc/apt/sources.list.d/debian.sources; do
  if [ -e "/$file" ]; then mkdir -p "$(dirname "$file")" && cp -r "/$file" "$(dirname "$file")/"; fi
done
if [ -e etc/apt/sources.list.d/debian.sources ]; then rm -f etc/apt/sources.list; fi
if [ -e "$HOME/.npmrc" ]; then cp "$HOME/.npmrc" usr/local/lib/node_modules/npm/npmrc; fi

container=$(buildah from scratch)
buildah copy "$container" . / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
buildah commit "$container" "$image" >/dev/null
buildah rm "$container" >/dev/null
rm -rf "$storage/rootfs"
