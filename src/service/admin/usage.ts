import { PLANS, SCOPES } from '#contract/api-key.ts'

export const USAGE = `Manages accounts and API keys of the payment service, in its database.

npm run admin -- <command> [options]

  account create --name <name> --plan <plan>
  key create     --account <id> --name <name> --scopes <scopes> [--plan <plan>] [--environment live|test] [--expires <date>]
  key list       [--account <id>]
  key revoke     --key <id>

Options
  --plan         ${Object.keys(PLANS).join(' or ')}; of a key at most the account's, standard when left out
  --scopes       with commas, or all: ${SCOPES.join(', ')}
  --environment  the prefix of the key, pk_live_ or pk_test_; live when left out
  --expires      a date such as 2027-01-31 or 2027-01-31T12:00:00Z; never when left out
  --json         one JSON document on stdout, for programs
  --help         this text

The database is the service's: DATABASE_URL, or DATA_DIR (.paydesk/service). A folder is open in one process only, so stop the service first.
`
