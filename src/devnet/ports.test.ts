import { spawnSync } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { readOptions, freePort, isFree, portProblems, portsToGive } from './options.ts'

test('a taken port is named with the variable that moves it', async () => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  const { port } = holder.address() as AddressInfo
  try {
    expect(await portProblems([{ what: 'web app', variable: 'PORT_WEB', port }])).toEqual([
      expect.stringMatching(new RegExp(`^Port ${port} \\(web app\\) is taken .* PORT_WEB=`)),
    ])
  } finally {
    await new Promise<void>((resolve) => holder.close(() => resolve()))
  }
  expect(await isFree(port)).toBe(true)
})

test('a port that was given out is given to nobody else, in whatever process', async () => {
  const range = { from: 31_000, to: 31_019 }
  const mine = [await freePort(range), await freePort(range), await freePort(range)]
  const script = `
    import { freePort } from '${new URL('options.ts', import.meta.url).href}'
    try {
      for (let i = 0; i < 100; i++) console.log(await freePort(${JSON.stringify(range)}))
    } catch (error) {
      console.log(error.message)
    }`
  const other = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  expect(other.stderr).toBe('')
  const theirs = other.stdout.trim().split('\n')
  expect(theirs.pop()).toBe('None of 200 ports from 31000 to 31019 is free.')
  expect(theirs.length).toBeGreaterThan(0)
  expect(new Set([...mine.map(String), ...theirs]).size).toBe(mine.length + theirs.length)
  for (const port of mine) expect(await isFree(port)).toBe(true)
})

test('ports are given from outside of what the system gives to connections', () => {
  expect(portsToGive('32768\t60999\n')).toEqual({ from: 20_000, to: 32_767 })
  expect(portsToGive('')).toEqual({ from: 20_000, to: 32_767 })
  expect(portsToGive('10000 59999')).toEqual({ from: 60_000, to: 65_535 })
  expect(portsToGive('1024 65535')).toEqual({ from: 20_000, to: 32_767 })
})

test('one port for two programs is a problem, free ports are none', async () => {
  const [port, other] = [await freePort(), await freePort()]
  const web = { what: 'web app', variable: 'PORT_WEB', port }
  expect(await portProblems([web, { what: 'proxy', variable: 'PORT_BFF', port }])).toEqual([
    expect.stringContaining('PORT_BFF'),
  ])
  expect(await portProblems([web, { what: 'proxy', variable: 'PORT_BFF', port: other }])).toEqual(
    [],
  )
})

test('every port has its default and its variable', () => {
  expect(readOptions([], {}).ports).toEqual({
    web: 4173,
    bff: 4021,
    service: 4020,
    seller: 4022,
    evm: 8545,
    solana: 8899,
    solanaWs: 8900,
  })
  expect(readOptions(['--reset'], { PORT_EVM: '18545' })).toMatchObject({
    reset: true,
    ports: { evm: 18_545 },
  })
})

test('every wrong option is named at once', () => {
  expect(() => readOptions(['--rest'], { PORT_WEB: 'x', PORT_EVM: '70000' })).toThrow(
    /--rest[^]*PORT_WEB[^]*PORT_EVM/,
  )
})
