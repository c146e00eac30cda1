import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runTogether } from './run-steps.ts'
import type { TestStep } from './steps.ts'

const LIMIT_MINUTES = 0.05
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steps-'))
})
afterEach(() => rm(folder, { recursive: true }))

const nodeStep = (name: string, script: string, limitMinutes = 1): TestStep => ({
  name,
  command: [process.execPath, '-e', script],
  limitMinutes,
})

const exists = (file: string) => `require('node:fs').existsSync(${JSON.stringify(file)})`
/** Runs until another process has written the file. */
const untilThere = (file: string) => `while (!${exists(file)}) {}`
const write = (file: string) => `require('node:fs').writeFileSync(${JSON.stringify(file)}, '')`
/** A program that waits for another one, which does not end; it writes the number of their group. */
const hangingStep = (file: string, { ignores = '', limitMinutes = 1 } = {}): TestStep => ({
  name: 'hanging',
  command: [
    'sh',
    '-c',
    `${ignores && `trap '' ${ignores};`} echo $$ > '${file}'; sleep 1000; true`,
  ],
  limitMinutes,
})

async function readGroup(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text === '' ? undefined : Number.parseInt(text)
}

async function run(steps: TestStep[]) {
  let text = ''
  const sink = new Writable({
    write: (data, _encoding, done) => {
      text += String(data)
      done()
    },
  })
  const ends = await runTogether(steps, env, { stdout: sink, stderr: sink })
  return { text, succeeded: ends.map(({ step, succeeded }) => [step.name, succeeded]) }
}

/** Whether any process of the group runs. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

test('steps run at the same time, and what each prints stands under its heading in the order of the list', async () => {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  // Each waits for the other one; the second one ends before the first one has printed.
  const { text, succeeded } = await run([
    nodeStep('one', `${write(first)}; ${untilThere(second)}; console.log('from one')`),
    nodeStep('two', `${untilThere(first)}; console.error('from two'); ${write(second)}`),
  ])
  expect(text).toBe('\n=== one ===\nfrom one\n\n=== two ===\nfrom two\n')
  expect(succeeded).toEqual([
    ['one', true],
    ['two', true],
  ])
})

test('of more than two steps the last one and the first one begin, and each begins once', async () => {
  const [second, third] = [join(folder, 'second'), join(folder, 'third')]
  // The last one ends after all others, and the second one begins after the first one.
  const { text, succeeded } = await run([
    nodeStep('one', `${untilThere(third)}; console.log(${exists(second)})`),
    nodeStep('two', `console.log('two'); ${write(second)}`),
    nodeStep('three', `${write(third)}; ${untilThere(second)}; console.log('three')`),
  ])
  expect(text).toBe('\n=== one ===\nfalse\n\n=== two ===\ntwo\n\n=== three ===\nthree\n')
  expect(succeeded.map(([, ended]) => ended)).toEqual([true, true, true])
})

test('a step that fails, and one that cannot be started, have failed, and the others go on', async () => {
  const { text, succeeded } = await run([
    { name: 'missing', command: [join(folder, 'missing')] },
    nodeStep('failing', 'process.exit(3)'),
    nodeStep('ending by a signal', "process.kill(process.pid, 'SIGKILL')"),
    nodeStep('well', ''),
  ])
  expect(text).toContain('could not be started: spawn')
  expect(succeeded).toEqual([
    ['missing', false],
    ['failing', false],
    ['ending by a signal', false],
    ['well', true],
  ])
})

test('past its limit a step is ended with the programs that it started', async () => {
  const file = join(folder, 'group')
  const { text, succeeded } = await run([hangingStep(file, { limitMinutes: LIMIT_MINUTES })])
  expect(text).toBe(`\n=== hanging ===\nhanging did not end in ${LIMIT_MINUTES} minutes.\n`)
  expect(succeeded).toEqual([['hanging', false]])
  const group = await readGroup(file)
  expect(group).toBeGreaterThan(0)
  await expect.poll(() => isAlive(group!)).toBe(false)
})

test.each([
  ['SIGINT', ''],
  ['SIGTERM', ''],
  ['SIGHUP', ''],
  ['SIGINT', 'INT'],
] as const)(
  '%s ends the programs of all steps, also those that ignore it (%j), and no other one begins',
  async (signal, ignores) => {
    const late = join(folder, 'late')
    const files = ['one', 'two'].map((name) => join(folder, name))
    const [one, two] = files.map((file) => hangingStep(file, { ignores }))
    const steps = [one, nodeStep('late', write(late)), two]
    const module = pathToFileURL(join(import.meta.dirname, 'run-steps.ts')).href
    const script = `import { runTogether } from '${module}'
      await runTogether(${JSON.stringify(steps)}, process.env)`
    const main = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
    const ended = once(main, 'exit')
    const groups = async () => (await Promise.all(files.map(readGroup))).filter(Number)
    await expect.poll(groups).toHaveLength(2)
    const begun = await groups()
    expect(begun.every((group) => isAlive(group!))).toBe(true)
    main.kill(signal)
    expect(await ended).toEqual([null, signal])
    await expect.poll(() => begun.some((group) => isAlive(group!))).toBe(false)
    expect(existsSync(late)).toBe(false)
  },
)
