import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import * as v from 'valibot'
import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { pause, runCommand } from './command.ts'
import { openFaultHarness } from './fault-harness.ts'
import { runLoad } from './load.ts'
import { checkLoad, checkRunning } from './measure.ts'

/**
 * Two service processes whose clocks are wrong, each in its own way, by up to 26 hours, and jump while payments run
 * (libfaketime; the monotonic clock stays right, as on a machine whose time is set). Some broadcasts
 * are lost, so that the processes have to send again what the other one signed. At the end the fast one
 * is gone, and the slow one finishes its payments. A round is two jumps of each.
 */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const MOST_S = 26 * 3_600
/** Readiness is red above this. */
const LIMIT_S = 5
const SETTLE_MS = 2_500
const FAULT_RATE = 0.1
const Ready = v.object({ checks: v.array(v.object({ name: v.string(), ok: v.boolean() })) })

await runCommand('chaos:clock', { short: 1, long: 30 }, async ({ rounds, rng, measure }) => {
  installLibrary()
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-clock-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const harness = stack.use(await openFaultHarness({ rng }))
  const processes = [
    stack.use(await startWrong(folder, harness.env)),
    stack.use(await startWrong(folder, harness.env)),
  ] as const
  const [fast, slow] = processes
  const schedule = rng.fork('clock')
  const skews: string[] = []
  let red = 0
  let looked = 0
  async function jump(service: WrongService, seconds: number): Promise<void> {
    service.set(seconds)
    skews.push(`${seconds} s`)
    await pause(SETTLE_MS)
    looked++
    // An answer is at most a second old.
    const ok = await clockIsRight(service)
    if (ok === Math.abs(seconds) <= LIMIT_S) red++
    else console.log(`With a clock ${seconds} s wrong, readiness said ${ok}.`)
  }
  const load = await runLoad(
    harness,
    {
      target: () => rng.pick(processes.filter(({ gone }) => !gone.yes)).url,
      rng,
      clients: { sends: 3, orders: 1, proofs: 2 },
    },
    async () => {
      for (const proxy of harness.proxies) proxy.rate = FAULT_RATE
      for (let round = 0; round < rounds; round++) {
        await jump(fast, schedule.int(LIMIT_S + 2, MOST_S))
        await jump(slow, -schedule.int(LIMIT_S + 2, MOST_S))
        await jump(fast, schedule.int(-2, 2))
        await jump(slow, schedule.pick([-1, 1]) * schedule.int(LIMIT_S + 2, MOST_S))
      }
      await jump(fast, MOST_S)
      await jump(slow, -MOST_S)
      fast.gone.yes = true
      await fast.kill()
      for (const proxy of harness.proxies) proxy.rate = 0
    },
  )
  console.log(`skews: ${skews.join(', ')}`)
  measure('readiness of the clock that is right', red, `${looked} of ${looked}`, red === looked)
  await checkRunning(measure, [slow])
  await checkLoad(measure, harness, load)
})

type WrongService = ServiceProcess & { set: (seconds: number) => void; gone: { yes: boolean } }

/** The service with a clock that a file sets. */
async function startWrong(folder: string, own: Record<string, string>): Promise<WrongService> {
  const file = join(folder, crypto.randomUUID())
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`)
  set(0)
  const service = await startServiceProcess({
    ...own,
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  })
  return Object.assign(service, { set, gone: { yes: false } })
}

async function clockIsRight({ internalUrl }: ServiceProcess): Promise<boolean | undefined> {
  const answer = await fetch(`${internalUrl}/health/ready`)
  const { checks } = v.parse(Ready, await answer.json())
  return checks.find(({ name }) => name === 'clock')?.ok
}

/** @throws Error where the library is not there and cannot be installed */
function installLibrary(): void {
  if (existsSync(LIBRARY)) return
  const install = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  install('update')
  install('install', '-y', '--no-install-recommends', 'libfaketime')
  if (!existsSync(LIBRARY))
    throw new Error(
      'Install libfaketime: apt-get install libfaketime. Without it no clock is wrong.',
    )
}
