import { ProblemError } from '#contract/problem.ts'
import { openDatabase } from '#postgres/open.ts'
import { readDatabase, readVaultKey } from '../context/config.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { explainFailure } from '../context/explain-failure.ts'
import { openVault } from '../wallets/vaults.ts'
import { parseCommandLine, UsageError } from './command-line.ts'
import { findCommand } from './run.ts'
import { USAGE } from './usage.ts'

const HINT = 'See npm run admin -- --help.'

try {
  const line = parseCommandLine(process.argv.slice(2))
  if (line.values.help) process.stdout.write(USAGE)
  else {
    const command = findCommand(line)
    await using database = await openDatabase(readDatabase(process.env), SERVICE_SCHEMA)
    const report = await command.run(
      { db: database.db, vault: () => openVault(readVaultKey(process.env)), now: new Date() },
      line.values,
    )
    process.stdout.write(
      line.values.json ? `${JSON.stringify(report.value)}\n` : `${report.text}\n`,
    )
  }
} catch (error) {
  process.stderr.write(`${tell(error)}\n`)
  process.exitCode = 1
}

function tell(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n${HINT}`
  if (error instanceof ProblemError)
    return [
      error.message,
      ...Object.entries(error.facts.details ?? {}).map(([field, text]) => `${field}: ${text}`),
    ].join('\n')
  return explainFailure(error)
}
