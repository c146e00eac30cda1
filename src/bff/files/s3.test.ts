import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FileSourceInput } from '#contract/browser-endpoints.ts'
import { isAwsSigned } from '#testing/aws-signature.ts'
import { Fixture } from '#testing/fixture.ts'
import { openSource, probeSource, storeSource, type ByteRange } from './source.ts'

/** Files in a bucket: a server that recomputes the signature of each request, as S3 does. */

const ACCOUNT = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret key', region: 'eu-west-1' }
const BUCKET = 'guides.example'
// Each character that a path, a query or the signature treats in its own way.
const KEY = "2026/Über (1) + 'a*b' !~&=?#%20.pdf"
const CONTENT = 'The first page of the guide.'
const folder = mkdtempSync(join(tmpdir(), 'paydesk-s3-'))
let fixture: Fixture
let server: Server
let endpoint = ''
const asked: (string | undefined)[] = []

/** The encoding of the signature's documents: all but letters, digits and -._~ */
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts = (request.url ?? '').slice(1).split('/').map(decodeURIComponent)
    const path = `/${parts.map(encode).join('/')}`
    const payload = String(request.headers['x-amz-content-sha256'])
    if (!isAwsSigned(request, { service: 's3', path, payload }, ACCOUNT))
      return void response.writeHead(403).end()
    if (parts.join('/') !== `${BUCKET}/${KEY}`) return void response.writeHead(404).end()
    asked.push(request.headers.range)
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    response.setHeader('content-type', 'application/pdf')
    if (start === undefined) return void response.end(CONTENT)
    const part = CONTENT.slice(Number(start), Number(end) + 1)
    const last = Number(start) + part.length - 1
    response.writeHead(206, { 'content-range': `bytes ${start}-${last}/${CONTENT.length}` })
    response.end(part)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  fixture = await Fixture.open({
    bff: {
      files: {
        publicUrl: 'https://files.example',
        keyFile: join(folder, 'source.key'),
        lostKeys: [],
        maxBytes: 10_000,
        loopback: true,
      },
    },
  })
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  server?.closeAllConnections()
  server?.close()
  rmSync(folder, { recursive: true })
})

const store = (changes: Partial<FileSourceInput> = {}) =>
  storeSource(fixture.bff.context, 'fil_1', {
    kind: 's3',
    endpoint,
    bucket: BUCKET,
    key: KEY,
    ...ACCOUNT,
    ...changes,
  } as FileSourceInput)

async function read(stored: Awaited<ReturnType<typeof store>>, range?: ByteRange) {
  const opened = await openSource(fixture.bff.context, stored, range)
  const chunks: Uint8Array[] = []
  for await (const chunk of opened.body) chunks.push(chunk)
  return { range: opened.range, text: Buffer.concat(chunks).toString() }
}

test('a file in a bucket is read whole and in part, each request with its own signature', async () => {
  const stored = await store()
  expect(await probeSource(fixture.bff.context, stored)).toEqual({
    size: CONTENT.length,
    mimeType: 'application/pdf',
    ranges: true,
  })
  expect(await read(stored)).toEqual({ range: undefined, text: CONTENT })
  expect(await read(stored, { start: 4, end: 8 })).toEqual({
    range: { start: 4, end: 8, total: CONTENT.length },
    text: CONTENT.slice(4, 9),
  })
  expect(asked).toEqual(['bytes=0-0', undefined, 'bytes=4-8'])
})

test('a wrong secret key, another account and a missing file are told apart', async () => {
  for (const [changes, reason] of [
    [{ secretAccessKey: 'another key' }, 'refused'],
    [{ accessKeyId: 'AKIAOTHER' }, 'refused'],
    [{ region: 'us-east-1' }, 'refused'],
    [{ key: 'another.pdf' }, 'missing'],
  ] as const)
    await expect(probeSource(fixture.bff.context, await store(changes))).rejects.toMatchObject({
      name: 'SourceError',
      reason,
    })
})

test('the secret key is sealed, and opens for no other source', async () => {
  const stored = await store()
  expect(JSON.stringify(stored)).not.toContain(ACCOUNT.secretAccessKey)
  const other = {
    ...stored,
    source: { ...stored.source, key: 'another.pdf' } as typeof stored.source,
  }
  await expect(probeSource(fixture.bff.context, other)).rejects.toMatchObject({ reason: 'sealed' })
})
