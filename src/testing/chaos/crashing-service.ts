import { env } from 'node:process'
import { importQuickly } from '#postgres/quick-imports.ts'

/**
 * The payment service as `src/service/main.ts` starts it, in a process that kills itself at the
 * step named by its argument, as a power cut would. `startCrashingService` starts it.
 */
importQuickly()
const [{ readEnv, toConfig }, { createService }] = await Promise.all([
  import('#service/context/config.ts'),
  import('#service/service.ts'),
])

const crashAt = process.argv[2]
const service = await createService(toConfig(readEnv(env)), {
  atPoint(point) {
    if (point === crashAt) process.kill(process.pid, 'SIGKILL')
  },
})
service.context.log.info({ port: service.port, internalPort: service.internalPort }, 'listening')
