import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { pino } from 'pino'
import { z } from 'zod'

/** The same work on Express as a project without us would write it: bearer, limit per key, schema, a line of log per request. */

const keys = new Map([[hash(env.API_KEY ?? ''), { accountId: 'acc_bench' }]])
const log = pino({ level: 'info' }, createWriteStream('/dev/null'))

const text = z.string().min(1).max(20_000)
const Requirements = z.object({
  scheme: text,
  network: text,
  amount: z.string().regex(/^\d{1,78}$/),
  asset: text,
  payTo: text,
  maxTimeoutSeconds: z.number().int().positive(),
  extra: z.record(z.string(), z.unknown()).optional(),
})
const Body = z.object({
  x402Version: z.number(),
  paymentPayload: z.object({
    x402Version: z.number(),
    resource: z.object({ url: text }).loose().optional(),
    accepted: Requirements,
    payload: z.record(z.string(), z.unknown()),
    extensions: z.record(z.string(), z.unknown()).optional(),
  }),
  paymentRequirements: Requirements,
})

const app = express()
app.use((request, response, next) => {
  const started = performance.now()
  const requestId = crypto.randomUUID()
  response.setHeader('X-Request-Id', requestId)
  response.on('finish', () =>
    log.info(
      {
        requestId,
        method: request.method,
        path: request.path,
        status: response.statusCode,
        ms: performance.now() - started,
      },
      'request',
    ),
  )
  next()
})
app.use((request, response, next) => {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const caller = token === undefined ? undefined : keys.get(hash(token))
  if (!caller) return void response.status(401).json({ error: 'UNAUTHORIZED' })
  response.locals.caller = caller
  next()
})
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: 1_000_000,
    legacyHeaders: true,
    keyGenerator: (_request, response) => String(response.locals.caller.accountId),
  }),
)
app.use(express.json({ limit: '100kb' }))
app.post('/facilitator/verify', (request, response) => {
  const parsed = Body.safeParse(request.body)
  if (!parsed.success) return void response.status(400).json({ error: parsed.error.issues })
  const { network } = parsed.data.paymentRequirements
  response.json({ isValid: false, invalidReason: 'invalid_network', invalidMessage: network })
})
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`port ${(server.address() as AddressInfo).port}`),
)

function hash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
