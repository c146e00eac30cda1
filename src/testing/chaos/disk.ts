import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { eventually } from '../service-context.ts'
import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { pause, runCommand } from './command.ts'
import { openFaultHarness } from './fault-harness.ts'
import { runLoad } from './load.ts'
import { checkLoad, checkRunning } from './measure.ts'

/**
 * The disk of a durable Postgres server fills up while payments are sent and proofs granted; some seconds later
 * there is space again, and the operator restarts the server. The disk is a tmpfs of 384 MB, so this
 * needs the right to mount: run it as root, or in `unshare --mount --map-root-user`. A round is one
 * full disk. At the end the disk of an embedded database fills up once.
 */
const SIZE_MB = 384
/** The embedded database needs less. */
const EMBEDDED_MB = 256
const EMBEDDED = '503 disk, 200'
const BLOCK = Buffer.alloc(1 << 20)
const Ready = v.object({ checks: v.array(v.object({ name: v.string(), ok: v.boolean() })) })
const FULL_MS = 6_000
const ALONE_MS = 3_000

await runCommand('chaos:disk', { short: 1, long: 15 }, async ({ rounds, rng, measure }) => {
  await using stack = new AsyncDisposableStack()
  const disk = mountDisk(SIZE_MB)
  stack.defer(() => disk.unmount())
  const harness = stack.use(await openFaultHarness({ rng, dataFolder: disk.folder }))
  const service = stack.use(await startServiceProcess(harness.env))
  const schedule = rng.fork('disk')
  let full = 0
  let refusedWhileFull = 0
  const shown: string[] = []
  const load = await runLoad(
    harness,
    {
      target: () => service.url,
      rng,
      clients: { sends: 4, orders: 1, proofs: 2 },
      alsoRepeat: (status) => status >= 500,
    },
    async () => {
      for (let round = 0; round < rounds; round++) {
        await pause(schedule.int(ALONE_MS, 2 * ALONE_MS))
        const until = performance.now() + FULL_MS
        // The server gives space back that it does not need; that is taken too.
        while (performance.now() < until) {
          disk.fill()
          await pause(100)
        }
        if (disk.free() < BLOCK.length) full++
        shown.push(await readDisk(service))
        disk.clear()
        await harness.restartDatabase(() => Promise.resolve())
        await eventually(
          () => readDisk(service),
          (found) => found === '200',
        )
      }
      await pause(ALONE_MS)
    },
  )
  let internal = 0
  for (const [name, times] of load.refused) {
    if (name.startsWith('5')) refusedWhileFull += times
    if (name.startsWith('500')) internal += times
  }
  measure('full disks', full, `${rounds}`, full === rounds)
  const red = shown.filter((found) => found === '503 disk').length
  if (red < rounds) console.log(`readiness while the disk was full: ${shown.join(', ')}`)
  measure('full disks that readiness shows', red, `${rounds}`, red === rounds)
  measure(
    'calls refused with 5xx',
    refusedWhileFull,
    'at least one for each',
    refusedWhileFull >= rounds,
  )
  measure('calls answered with 500', internal, '0', internal === 0)
  const embedded = await fillEmbedded(harness.env)
  measure(
    'readiness of an embedded database with a full disk, then with space',
    embedded.join(', '),
    EMBEDDED,
    embedded.join(', ') === EMBEDDED,
  )
  await checkRunning(measure, [service])
  await checkLoad(measure, harness, load)
})

/** The status of readiness, and whether it names the disk. A server that stopped for lack of space answers no check of its database. */
async function readDisk({ internalUrl }: ServiceProcess): Promise<string> {
  const answer = await fetch(`${internalUrl}/health/ready`)
  const { checks } = v.parse(Ready, await answer.json())
  const failed = checks.some(({ name, ok }) => name === 'disk' && !ok)
  return failed ? `${answer.status} disk` : String(answer.status)
}

/** What readiness says with the embedded database, when its disk is full and when it has space again. */
async function fillEmbedded(harnessEnv: Record<string, string>): Promise<string[]> {
  const env = Object.fromEntries(
    Object.entries(harnessEnv).filter(([name]) => !name.endsWith('DATABASE_URL')),
  )
  await using stack = new AsyncDisposableStack()
  const disk = mountDisk(EMBEDDED_MB)
  stack.defer(() => disk.unmount())
  const service = stack.use(
    await startServiceProcess({ ...env, DATA_DIR: join(disk.folder, 'data') }),
  )
  await eventually(
    () => readDisk(service),
    (found) => found === '200',
  )
  disk.fill()
  // A disk that was written counts as good for some seconds.
  const full = await eventually(
    () => readDisk(service),
    (found) => found !== '200',
  )
  disk.clear()
  const cleared = await eventually(
    () => readDisk(service),
    (found) => found !== full,
  )
  return [full, cleared]
}

type Disk = {
  folder: string
  free: () => number
  fill: () => void
  clear: () => void
  unmount: () => void
}

/** @throws Error where mounting is not allowed: no other disk can be filled here */
function mountDisk(sizeMb: number): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-disk-'))
  const run = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' })
  const mounted = run('mount', '-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder)
  if (mounted.status !== 0)
    throw new Error(`A tmpfs cannot be mounted (${mounted.stderr.trim()}): run this as root.`)
  const ballast = join(folder, 'ballast')
  const free = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  return {
    folder,
    free,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (let size = BLOCK.length; size >= 512; size /= 2)
          while (free() >= size) writeSync(file, BLOCK, 0, size)
        fsyncSync(file)
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes('ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    unmount() {
      run('umount', folder)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
