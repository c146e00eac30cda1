import type { DatabaseTarget } from '#postgres/open.ts'
import { importQuickly } from '#postgres/quick-imports.ts'
import type { Command, CommandReport, Values } from './command-line.ts'

importQuickly()
const [
  { ProblemError },
  { openDatabase },
  { openSigner },
  { readDatabase, readNetworks, readSignerPlace },
  { SERVICE_SCHEMA },
  { explainFailure },
  { parseCommandLine, UsageError },
  { findCommand, USAGE },
] = await Promise.all([
  import('#contract/problem.ts'),
  import('#postgres/open.ts'),
  import('#signer/client.ts'),
  import('../context/config.ts'),
  import('../db/migrations-folder.ts'),
  import('../context/explain-failure.ts'),
  import('./command-line.ts'),
  import('./run.ts'),
])

const HINT = 'See npm run admin -- --help.'

try {
  const line = parseCommandLine(process.argv.slice(2))
  if (line.values.help) process.stdout.write(USAGE)
  else {
    const command = findCommand(line)
    const target = readDatabase(process.env)
    const report =
      'runClosed' in command
        ? await command.runClosed({ target, env: process.env }, line.values)
        : await runOpen(command, target, line.values)
    process.stdout.write(
      line.values.json ? `${JSON.stringify(report.value)}\n` : `${report.text}\n`,
    )
  }
} catch (error) {
  process.stderr.write(`${formatError(error)}\n`)
  process.exitCode = 1
}

async function runOpen(
  command: Command,
  target: DatabaseTarget,
  values: Values,
): Promise<CommandReport> {
  await using database = await openDatabase(target, {
    ...SERVICE_SCHEMA,
    declaresRestore: command.declaresRestore,
  })
  await using stack = new AsyncDisposableStack()
  const signer = async () => stack.use(await openSigner(readSignerPlace(process.env)))
  const networks = () => readNetworks(process.env)
  return await command.run({ db: database.db, signer, now: new Date(), networks }, values)
}

function formatError(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n${HINT}`
  if (error instanceof ProblemError)
    return [
      error.message,
      ...Object.entries(error.facts.details ?? {}).flatMap(([field, text]) =>
        field === 'reason' ? [] : [`${field}: ${String(text)}`],
      ),
    ].join('\n')
  return explainFailure(error)
}
