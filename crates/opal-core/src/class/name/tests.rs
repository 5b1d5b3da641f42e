//! Real names, on each side.

use super::*;

fn each(names: &str) -> impl Iterator<Item = &str> {
    names.split_whitespace()
}

#[test]
fn a_variable_that_is_called_like_a_secret_is_one() {
    let names = "
        ANTHROPIC_API_KEY API_KEY API_KEYS APIKEY AUTH AUTH_TOKEN AWS_SECRET_ACCESS_KEY
        AWS_SESSION_TOKEN AZURE_CLIENT_SECRET AZURE_STORAGE_KEY BASIC_AUTH CARGO_REGISTRY_TOKEN
        CI_JOB_TOKEN CI_REGISTRY_PASSWORD CLOUDFLARE_API_TOKEN CONSUL_HTTP_TOKEN COOKIE
        CREDENTIALS DATABASE_PASSWORD DB_PASS DB_PASSWD DB_PASSWORD DEPLOY_KEY DIGITALOCEAN_TOKEN
        DJANGO_SECRET_KEY DOCKER_AUTH_CONFIG DOCKER_PASSWORD ERLANG_COOKIE GH_TOKEN GITHUB_TOKEN
        GITLAB_TOKEN GOOGLE_APPLICATION_CREDENTIALS GPG_PASSPHRASE HCLOUD_TOKEN HEROKU_API_KEY
        JWT_SECRET KEY MYSQL_PWD MYSQL_ROOT_PASSWORD NPM_TOKEN NODE_AUTH_TOKEN OPENAI_API_KEY
        PASS PASSWORD PGPASSWORD POSTGRES_PASSWORD PRIVATE_KEY REDIS_PASSWORD RESTIC_PASSWORD
        SECRET SECRET_KEY_BASE SENTRY_AUTH_TOKEN SENTRY_DSN SESSION_COOKIE SLACK_TOKEN
        SLACK_WEBHOOK_URL SMTP_PASS SNYK_TOKEN SONAR_TOKEN SOPS_AGE_KEY SSHPASS SSH_KEY
        SSH_PASSPHRASE STRIPE_SECRET_KEY TF_VAR_db_password TOKEN TWINE_PASSWORD
        VAULT_TOKEN WIFI_PSK authToken db.password dbPassword hcloud-token npm_config__authToken
        token2";
    for name in each(names) {
        assert!(is_secret(name), "{name}");
    }
}

#[test]
fn a_variable_that_only_sounds_like_a_secret_is_none() {
    let names = "
        ANSIBLE_VAULT_PASSWORD_FILE AUTHOR AUTH_ENABLED AUTH_METHOD AUTH_URL AWS_ACCESS_KEY_ID
        AWS_PROFILE AWS_REGION AWS_WEB_IDENTITY_TOKEN_FILE BYPASS CACHE_KEY CI COMPASS
        COMPOSE_PROJECT_NAME COOKIE_DOMAIN COOKIE_NAME COOKIE_SECURE DATABASE_URL DBUS_SESSION_BUS_ADDRESS
        DISPLAY DOCKER_HOST EDITOR GIT_ASKPASS GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_NAME
        GNOME_KEYRING_CONTROL HAS_PASSWORD HOME HOSTNAME JAVA_HOME KEYBOARD_LAYOUT KEYMAP
        KEYTIMEOUT KEY_COUNT KEY_REPEAT KUBECONFIG LANG LC_ALL LOGNAME MAX_TOKENS MONKEY NODE_ENV
        NO_PROXY OAUTH_CLIENT_ID OLDPWD PASSWORD_STORE_DIR PASS_THROUGH PATH PGHOST PGPASSFILE
        PGUSER PORT PRIMARY_KEY PUBLIC_KEY PWD REGION REQUIRE_AUTH SECRETARY SECRET_NAME SHELL
        SHLVL SSH_AGENT_PID SSH_ASKPASS SSH_AUTH_SOCK SSH_CONNECTION SSH_KEY_PATH TERM TMPDIR
        TOKENIZERS_PARALLELISM TOKEN_TTL TZ USER USE_TOKEN VAULT_ADDR VERSION XAUTHORITY
        XDG_RUNTIME_DIR _ KE TOKE";
    for name in each(names).chain([""]) {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn a_key_of_a_document_that_says_secret_in_any_spelling_is_one() {
    let names = "
        password PASSWORD db_password DB_PASSWD adminPwd passphrase token HCLOUD_TOKEN
        hcloud-token vaultToken X-Auth-Token api_key apiKey APIKey apikey api-keys
        aws_secret_access_key client_secret clientSecret private_key private_key_pem
        ssh_private_key credentials secrets Authorization basic_auth cookie secret_id
        storage.account.key slackWebhook pw root_pw pgpassword htpasswd";
    for name in each(names) {
        assert!(is_field(name), "{name}");
    }
}

#[test]
fn a_key_of_a_document_that_only_tells_about_a_secret_is_none() {
    let names = "
        _ name key keys ssh_keys public_key token_ttl cookie_ttl_s access_key_hint
        password_length secret_name private_key_file api_key_id passwordPolicy token_env
        required_env auth_mode author bypass compass secretary tokenize monkey credential_ids
        secret_ref key_name sass primary_key dsn";
    for name in each(names).chain([""]) {
        assert!(!is_field(name), "{name}");
    }
}

#[test]
fn a_name_in_a_text_is_read_in_parts_however_they_are_joined() {
    let all = |names: &str, expected: Option<Says>| {
        for name in each(names) {
            assert_eq!(in_text(name.as_bytes(), false), expected, "{name}");
        }
    };
    all("password DB_PASSWORD dbPassword PGPASSWORD DBPassword", Some(Says::Password));
    all("db.password password2 password_1 MYSQL_PWD admin-pw", Some(Says::Password));
    all("passphrase sshPassphrase SSH_PASSPHRASE", Some(Says::Passphrase));
    all("token hcloud-token vaultToken X-Auth-Token psk", Some(Says::Secret));
    all("aws_secret_access_key apiKey api-key APIKey apikey", Some(Says::Secret));
    all("AccountKey private_key_pem CREDENTIALS client_secret", Some(Says::Secret));
    all("secret_key_base random_password.db.token secret.value", Some(Says::Secret));
    all("unseal_keys_b64 recovery_keys_hex", Some(Says::Secret));
    all("auth _auth pass PWD tokens basic_auth", Some(Says::Perhaps));
    all("secret_id use_password ask-vault-pass", Some(Says::Perhaps));
    all("Authorization Proxy-Authorization", Some(Says::Authorization));
    all("Cookie Set-Cookie", Some(Says::Cookie));
    all("token_ttl password_length secretName tokenID api_key_id token_ttl_2", None);
    all("secretary tokenizer random_password.db cache_key public_key author", None);
    all("discovery-token-ca-cert-hash unseal_threshold api_keys", None);
    all("key compass _ password. 1 sig primary-key passwordFile", None);
    assert_eq!(in_text(b"X-Amz-Signature", true), Some(Says::Secret));
    assert_eq!(in_text(b"", true), None);
}

#[test]
fn a_number_after_several_may_be_their_count() {
    assert!(is_of_several("max_tokens") && is_of_several("api-keys"));
    assert!(!is_of_several("token"));
}
