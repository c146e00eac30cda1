import { parseArgs } from 'node:util'
import { lines, runLines, formatReport } from './lines.ts'
import { createProbe } from './lines/probe.ts'
import { OTHER_EVM_ADDRESS } from './lines/line.ts'

const USAGE = `Asks a running payment service line by line whether it keeps the specification, over HTTP only.

npm run conformance -- --base-url <url> --api-key <key> [options]

  --base-url        where the service answers, for example http://127.0.0.1:4020
  --api-key         a key with all scopes; lines that need one it lacks fail
  --wallet          an address with funds: unsigned payments from it are built, none is signed
  --managed-wallet  an address of a managed wallet with funds: 0.001 is paid from it to the recipient, twice
  --recipient       an address that may be paid, on the wallet's chain; ${OTHER_EVM_ADDRESS} when left out
  --json            the findings as one JSON document
  --help            this text

Ends with 0 when no line failed, with 1 when one did, with 2 when it was called wrongly. What was not asked says why: an option is left out, or no request
from outside can decide the line. The last line uses up the key's requests of a minute.
`

try {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      'api-key': { type: 'string' },
      wallet: { type: 'string' },
      'managed-wallet': { type: 'string' },
      recipient: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    strict: true,
  })
  const { 'base-url': baseUrl, 'api-key': apiKey } = values
  if (values.help) process.stdout.write(USAGE)
  else if (!baseUrl || !URL.canParse(baseUrl) || !apiKey)
    throw new Error('Expected --base-url <url> and --api-key <key>.')
  else {
    const facts = {
      wallet: values.wallet,
      managedWallet: values['managed-wallet'],
      recipient: values.recipient ?? OTHER_EVM_ADDRESS,
    }
    const results = await runLines(lines, createProbe(baseUrl, apiKey), facts)
    process.stdout.write(values.json ? `${JSON.stringify(results)}\n` : formatReport(results))
    process.exitCode = results.some((result) => result.verdict === 'fail') ? 1 : 0
  }
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}\nSee npm run conformance -- --help.\n`,
  )
  process.exitCode = 2
}
