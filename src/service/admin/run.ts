import { GRACE_SECONDS, PLANS, SCOPES } from '#contract/api-key-body.ts'
import { accountCommands, ownerCommands } from './account-commands.ts'
import { UsageError, type ClosedCommand, type Command, type CommandLine } from './command-line.ts'
import { backupCommands, paymentCommands, restoreCommands } from './database-commands.ts'
import { keyCommands } from './key-commands.ts'
import { walletCommands } from './wallet-commands.ts'

const commands: Readonly<Record<string, Command | ClosedCommand>> = {
  ...accountCommands,
  ...keyCommands,
  ...walletCommands,
  ...ownerCommands,
  ...paymentCommands,
  ...backupCommands,
  ...restoreCommands,
}

/** @throws UsageError for an unknown command or an option that is not its own */
export function findCommand({ command, values }: CommandLine): Command | ClosedCommand {
  const found = Object.entries(commands).find(([name]) => name === command)?.[1]
  if (!found)
    throw new UsageError(
      `${command ? `There is no command "${command}"` : 'A command is missing'}. Expected one of: ${Object.keys(commands).join(', ')}.`,
    )
  for (const option of Object.keys(values)) {
    if (option === 'json' || found.options.some((own) => own === option)) continue
    const own = found.options.map((known) => `--${known}`).join(', ')
    throw new UsageError(`${command} takes no --${option}. It takes ${own || 'none but --json'}.`)
  }
  return found
}

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
  wallet resume  --wallet <address> [--accept <nonces or signatures>] [--unchecked]
  wallet register --account <id> --wallet <addresses> [--network <id>]
  wallet release --wallet <addresses>
  wallet owners  [--account <id>]
  payment unproven
  backup         --file <file>
  restore

Options
  --plan         ${Object.keys(PLANS).join(' or ')}; of a key at most the account's, standard when left out
  --scopes       with commas, or all: ${SCOPES.join(', ')};
                 of an account what its plan permits, all when left out
  --environment  the prefix of the key, pk_live_ or pk_test_; when left out, test if NETWORKS or NETWORKS_FILE
                 of the service is set and has test networks alone, live otherwise
  --expires      a date such as 2027-01-31 or 2027-01-31T12:00:00Z; never when left out
  --grace        how long both keys are valid: ${GRACE_SECONDS.join(', ')}
  --requests-per-minute  a quota of this key alone, in place of the plan's
  --secret-file  a wallet's private key as wallets export it: hex (EVM), base58 or the array of a keypair file (Solana); - for standard input
  --wallet       resume: the address of a wallet that is stopped because the chain showed something of it that the service did not sign; wallet list names it;
                 register and release: the wallets that get paid, with commas. The operator's registration gives way to a signature of the wallet.
                 It overrides neither a signature nor a managed wallet, and only it is released here.
  --accept       with commas, all that wallet list names of a wallet that is stopped after a restore. Each was paid, and is not in the database.
  --unchecked    also resumes where the wallet was not compared with its chain for 30 minutes: what it did since is not looked at
  --network      the chain of a contract wallet, such as eip155:8453; an address that a key controls has one owner on all chains
  --facilitators URLs with commas that the account may have payments verified by, or default: those of FACILITATOR_ALLOWLIST
  --file         a new file for a backup of the whole database. A server goes on meanwhile and needs pg_dump; MIGRATION_DATABASE_URL is the role that owns its
                 tables. The folder of the embedded database must not be open.
  --json         one JSON document on stdout, for programs
  --help         this text

restore follows each restore of a backup, with every service stopped: nothing is sent and nothing is granted until the service has compared each
network and wallet with its chain.

The database is the service's: DATABASE_URL, or DATA_DIR (.paydesk/service). Wallets are made by the signer
that the service uses: the one at SIGNER_SOCKET, or of the same VAULT_KEY_FILE, VAULT_KMS_KEY and SIGNER_DIR. A folder is open in one process only, so stop the service first.
`
