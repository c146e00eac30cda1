import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import httpProxy from 'http-proxy'

/** http-proxy in front of the service, which adds the API key and nothing else. */
const proxy = httpProxy.createProxyServer({
  target: env.TARGET,
  agent: new Agent({ keepAlive: true, maxSockets: 64 }),
  headers: { authorization: `Bearer ${env.API_KEY}` },
})
proxy.on('error', (error) => {
  throw error
})
const server = createServer((request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`))
