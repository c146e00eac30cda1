import { PLANS, SCOPES } from '#contract/api-key.ts'
import { GRACE_SECONDS } from '#contract/api-key-body.ts'

export const USAGE = `Manages accounts, API keys and wallets of the payment service, in its database.

npm run admin -- <command> [options]

  account create --name <name> --plan <plan> [--scopes <scopes>]
  account list
  account plan   --account <id> --plan <plan> [--scopes <scopes>]
  account facilitators --account <id> --facilitators <urls>
  plan list
  key create     --account <id> --name <name> --scopes <scopes> [--plan <plan>] [--environment live|test] [--expires <date>]
                 [--requests-per-minute <number>]
  key list       [--account <id>]
  key rotate     --key <id> --grace <seconds>
  key revoke     --key <id>
  wallet create  --account <id> --family evm|solana --name <name>
  wallet import  --account <id> --family evm|solana --name <name> --secret-file <file>
  wallet list    [--account <id>]
  wallet resume  --wallet <address>
  wallet register --account <id> --wallet <addresses> [--network <id>]
  wallet release --wallet <addresses>
  wallet owners  [--account <id>]
  payment unproven

Options
  --plan         ${Object.keys(PLANS).join(' or ')}; of a key at most the account's, standard when left out
  --scopes       with commas, or all: ${SCOPES.join(', ')};
                 of an account what its plan permits, all when left out
  --environment  the prefix of the key, pk_live_ or pk_test_; live when left out
  --expires      a date such as 2027-01-31 or 2027-01-31T12:00:00Z; never when left out
  --grace        how long both keys are valid: ${GRACE_SECONDS.join(', ')}
  --requests-per-minute  a quota of this key alone, in place of the plan's
  --secret-file  a wallet's private key as wallets export it: hex (EVM), base58 or the array of a keypair file (Solana); - for standard input
  --wallet       resume: the address of a wallet that is stopped because the chain showed something of it that the service did not sign; wallet list names it;
                 register and release: the wallets that get paid, with commas. The operator's registration gives way to a signature of the wallet.
                 It overrides neither a signature nor a managed wallet, and only it is released here.
  --network      the chain of a contract wallet, such as eip155:8453; an address that a key controls has one owner on all chains
  --facilitators URLs with commas that the account may have payments verified by, or default: those of FACILITATOR_ALLOWLIST
  --json         one JSON document on stdout, for programs
  --help         this text

The database is the service's: DATABASE_URL, or DATA_DIR (.paydesk/service). The key that seals wallets is in VAULT_KEY_FILE, or in vault.key of DATA_DIR,
or in AWS KMS (VAULT_KMS_KEY): it must be the service's own. A folder is open in one process only, so stop the service first.
`
