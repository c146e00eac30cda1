import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { PROGRAMS } from './import-rules.ts'

/** No container engine runs here. So every path, program and variable that the container files name is looked up, which is what goes stale. */

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

test('what the images copy and start exists', async () => {
  const lines = (await read('deploy/containers/Containerfile')).split('\n')
  const stages = new Set(lines.flatMap((line) => (/^FROM \S+ AS (\S+)$/.exec(line) ?? []).slice(1)))
  const missing: string[] = []
  for (const line of lines) {
    const [, from, sources] = /^COPY (?:--from=(\S+) )?(.+) \S+$/.exec(line) ?? []
    if (from && !stages.has(from)) missing.push(line)
    for (const source of sources?.split(' ') ?? []) {
      const path = source.replace(/^\/app\//, '')
      if (!/^(node_modules|dist)$/.test(path) && !existsSync(join(ROOT, path))) missing.push(line)
    }
    for (const program of line.match(/src\/\S+\.ts/g) ?? [])
      if (!existsSync(join(ROOT, program))) missing.push(line)
  }
  expect(missing).toEqual([])
  expect([...stages]).toEqual(expect.arrayContaining(['service', 'proxy', 'web']))
})

test('each image holds every folder that its program may import', async () => {
  const file = await read('deploy/containers/Containerfile')
  for (const [folder, stage] of [
    ['service', 'service'],
    ['bff', 'proxy'],
  ] as const) {
    const allowed = [...(PROGRAMS[folder]?.may ?? [])]
    expect(allowed.length).toBeGreaterThan(3)
    const copied = [...stageOf(file, 'program'), ...stageOf(file, stage)]
    expect(copied).toEqual(expect.arrayContaining(allowed))
  }
})

test('each image holds the files that its program reads beside its code', async () => {
  const file = await read('deploy/containers/Containerfile')
  for (const [folder, stage] of [
    ['service', 'service'],
    ['bff', 'proxy'],
  ] as const) {
    const [, text = ''] = new RegExp(`AS ${stage}\\n([^]*?)(?=\\nFROM|$)`).exec(file) ?? []
    for await (const path of glob(`src/${folder}/**/*.ts`, { cwd: ROOT }))
      for (const [, up = '', target = ''] of (await read(path)).matchAll(
        /new URL\('((?:\.\.\/)+)([^']+)', import\.meta\.url\)/g,
      )) {
        const found = relative(ROOT, join(ROOT, dirname(path), up, target))
        if (!found.startsWith('src/')) expect(text).toContain(`/app/${found} ${found}`)
      }
  }
})

test('the composition sets only variables that a program reads, and mounts only its own files', async () => {
  const compose = await read('deploy/containers/compose.yaml')
  const configs = `${await read('src/service/context/config.ts')}${await read('src/signer/config.ts')}${await read('src/bff/config/config.ts')}`
  const set = [...compose.matchAll(/^ {6}([A-Z][A-Z_]+): /gm)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('POSTGRES_'))
  expect(set.length).toBeGreaterThan(5)
  expect(set.filter((name) => !new RegExp(`\\b${name}\\b`).test(configs))).toEqual([])
  expect([...compose.matchAll(/^ {6}target: (\S+)$/gm)].map(([, target]) => target)).toEqual([
    'service',
    'proxy',
    'web',
  ])
})

test('the vault key is stored in a volume that the program may write', async () => {
  const [compose, file] = [
    await read('deploy/containers/compose.yaml'),
    await read('deploy/containers/Containerfile'),
  ]
  const folder = dirname(/^ {6}VAULT_KEY_FILE: (\S+)$/m.exec(compose)?.[1] ?? '')
  expect(compose).toMatch(new RegExp(`^ {6}- \\w+:${folder}$`, 'm'))
  const [before = ''] = file.split('\nUSER node\n')
  expect(before).toContain(`install -d -o node -g node -m 0700 ${folder}`)
})

test('the stage that builds the dashboard installs the compiled parts of its tools, which npm calls optional', async () => {
  const [, stage = ''] =
    /AS dashboard\n([^]*?)(?=\nFROM)/.exec(await read('deploy/containers/Containerfile')) ?? []
  expect(stage).toContain('RUN npm ci --ignore-scripts\n')
  expect(stage).not.toContain('--omit')
})

test('an upgrade that migrates for an hour, or while a network is down, starts the proxy at its end', async () => {
  const file = await read('deploy/containers/Containerfile')
  const checks = file.split('\n').filter((line) => line.startsWith('HEALTHCHECK'))
  expect(checks.length).toBe(2)
  for (const check of checks) {
    expect(check).toContain(`'/health/live'`)
    expect(check).toContain('--start-period=1h ')
  }
  const compose = await read('deploy/containers/compose.yaml')
  expect(compose).toContain('service: { condition: service_healthy }')
  // The check of the database alone is there, and no other replaces the images'.
  expect(compose.match(/healthcheck:/g)?.length).toBe(1)
})

/** Folders of src that a stage copies. */
function stageOf(file: string, stage: string): string[] {
  const [, text = ''] = new RegExp(`AS ${stage}\\n([^]*?)(?=\\nFROM|$)`).exec(file) ?? []
  return [...text.matchAll(/src\/(\w+) src\/\1/g)].map(([, folder = '']) => folder)
}
