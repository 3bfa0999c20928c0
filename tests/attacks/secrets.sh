#!/usr/bin/env bash
# Guard: secrets. They are in logs, in the environment and in files of settings; none is in a bundle.
. "$(dirname "$0")/lib.sh"
value() { head -c 400 /dev/urandom | sha256sum | head -c "$1"; }
declare -a secrets=()
plant() { secrets+=("$1"); }
mkdir -p logs machine/etc
echo localhost >machine/etc/hostname
plant "hf_$(value 34)"; echo "HF_TOKEN=${secrets[-1]}" >env
plant "$(value 40)"; echo "WANDB_API_KEY=${secrets[-1]}" >>env
plant "Gauss$(value 6)"; echo "DB_PASS=${secrets[-1]}" >>env
{
    plant "$(value 40)"; echo "obs client sk=${secrets[-1]} endpoint=obs.example.com"
    plant "Npu@$(value 6)"; echo "使用密码 ${secrets[-1]} 登录集群失败"
    plant "Harbor$(value 6)"; echo "docker login -u admin -p ${secrets[-1]} harbor.example.com"
    plant "Pw$(value 8)"; echo "curl -u admin:${secrets[-1]} https://example.com"
    plant "glpat-$(value 20)"; echo "cloning https://oauth2:${secrets[-1]}@git.example.com/a.git"
    plant "$(value 40)"; echo "wandb: Appending key ${secrets[-1]} for api.wandb.ai to netrc"
    plant "Root$(value 6)"; echo "sshpass -p ${secrets[-1]} ssh root@10.0.0.1"
    plant "$(value 44)"; printf 'kind: Secret\ndata:\n  config: %s\n' "${secrets[-1]}"
    plant "$(value 32)"; printf '{"auths": {"h": {"auth": "%s"}}}\n' "${secrets[-1]}"
} >logs/train.log
run bundle --sysroot machine --env-file env -o bundle.tar.gz --add logs/train.log
[[ -e bundle.tar.gz ]] || fail "no bundle: $(cat err)"
mkdir open && tar -C open -xzf bundle.tar.gz
for secret in "${secrets[@]}"; do
    ! grep -raqF -- "$secret" open out err || fail "in the bundle: $secret"
done
