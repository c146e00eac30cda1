import { once } from 'node:events'
import { createServer as createSite, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet } from '#testing/test-browser.ts'

/** On any free port, until the test is finished. */
async function listen<S extends Server>(server: S): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('a stop refuses new connections at once, answers what is under way, and waits for no silent mail server', async () => {
  const mailed = Promise.withResolvers<Socket>()
  const mailPort = await listen(createServer((socket) => mailed.resolve(socket)))
  const asked = Promise.withResolvers<ServerResponse>()
  const site = createSite((_, response) => asked.resolve(response))
  const url = `http://127.0.0.1:${await listen(site)}/`
  const wallet = evmWallet()
  await using fixture = await Fixture.open({
    bff: {
      operatorWallets: [wallet.address],
      mail: {
        server: { host: '127.0.0.1', port: mailPort, secure: false, requireTLS: false },
        from: { name: 'Test shop', address: 'shop@example.com' },
        dashboardUrl: 'https://pay.example.com',
        publicUrl: 'https://pay-api.example.com',
      },
    },
    overrides: { mailEveryMs: 40 },
  })
  const browser = fixture.browser()
  await browser.signIn(wallet)
  const settings = { address: 'person@example.com', language: 'en', kinds: [] }
  expect((await browser.post('/api/mail', settings)).status).toBe(200)
  const mailSocket = await mailed.promise
  onTestFinished(() => void mailSocket.destroy())
  const underWay = browser.post('/api/relay', { method: 'GET', headers: [], url })
  const response = await asked.promise

  const stopped = fixture.stopBff()
  await expect(fetch(`${fixture.bff.url}/health/live`)).rejects.toThrow(TypeError)
  response.end('answered')
  expect((await underWay).json).toMatchObject({ answered: true })
  await stopped
  expect(mailSocket.readableEnded).toBe(false)
  await fixture.startBff({ mail: undefined })
})
