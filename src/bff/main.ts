import { createBff } from './bff.ts'
import { ProxyConfigError, readEnv, toConfig } from './config/config.ts'

/** Starts the proxy from the environment; SIGTERM and SIGINT end it in order. */
async function main(): Promise<void> {
  const bff = await createBff(toConfig(readEnv(process.env)))
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    bff[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        bff.context.log.error({ err: error }, 'the stop failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

try {
  await main()
} catch (error) {
  process.stderr.write(
    `${error instanceof ProxyConfigError || !(error instanceof Error) ? String(error instanceof Error ? error.message : error) : (error.stack ?? error.message)}\n`,
  )
  process.exitCode = 1
}
