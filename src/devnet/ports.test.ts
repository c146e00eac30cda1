import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { readOptions } from './options.ts'
import { freePort, isFree, portProblems } from './ports.ts'

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

test('one port for two programs is a problem, free ports are none', async () => {
  const [port, other] = [await freePort(), await freePort()]
  const web = { what: 'web app', variable: 'PORT_WEB', port }
  expect(await portProblems([web, { what: 'proxy', variable: 'PORT_BFF', port }])).toEqual([expect.stringContaining('PORT_BFF')])
  expect(await portProblems([web, { what: 'proxy', variable: 'PORT_BFF', port: other }])).toEqual([])
})

test('every port has its default and its variable', () => {
  expect(readOptions([], {}).ports).toEqual({ web: 4173, bff: 4021, service: 4020, seller: 4022, evm: 8545, solana: 8899, solanaWs: 8900 })
  expect(readOptions(['--reset'], { PORT_EVM: '18545' })).toMatchObject({ reset: true, ports: { evm: 18_545 } })
})

test('every wrong option is named at once', () => {
  expect(() => readOptions(['--rest'], { PORT_WEB: 'x', PORT_EVM: '70000' })).toThrow(/--rest[^]*PORT_WEB[^]*PORT_EVM/)
})
