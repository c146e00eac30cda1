import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isAwsSigned, sha256 } from './aws-signature.ts'

/**
 * A peer that speaks the wire format of AWS KMS as its API reference gives it (JSON 1.1 over POST /, the operation in X-Amz-Target, Signature
 * Version 4), with one symmetric key.
 */
export type KmsServer = {
  url: string
  /** Every request that was answered, without its plaintext. */
  calls: { operation: string; keyId: string; context: unknown }[]
  /** The next answers come with this status and error type instead. */
  fail(status: number, type: string, times: number): void
  [Symbol.asyncDispose](): Promise<void>
}

type Options = { keyArn: string; accessKeyId: string; secretAccessKey: string }
type Body = {
  KeyId: string
  Plaintext?: string
  CiphertextBlob?: string
  EncryptionContext?: Record<string, string>
}

class KmsError extends Error {
  readonly type: string
  readonly status: number

  constructor(type: string, status = 400) {
    super(type)
    this.type = type
    this.status = status
  }
}

export async function startKms(options: Options): Promise<KmsServer> {
  const key = randomBytes(32)
  const calls: KmsServer['calls'] = []
  let failure: { status: number; type: string; times: number } | undefined

  function answer(request: IncomingMessage, text: string): object {
    if (failure && failure.times-- > 0) throw new KmsError(failure.type, failure.status)
    if (
      request.method !== 'POST' ||
      request.url !== '/' ||
      request.headers['content-type'] !== 'application/x-amz-json-1.1'
    ) {
      throw new KmsError('UnknownOperationException')
    }
    const signed = { service: 'kms', path: '/', payload: sha256(text) }
    const region = options.keyArn.split(':')[3] ?? ''
    if (!isAwsSigned(request, signed, { ...options, region }))
      throw new KmsError('InvalidSignatureException')
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '')
    const body = JSON.parse(text) as Body
    if (body.KeyId !== options.keyArn) throw new KmsError('NotFoundException')
    const context = Buffer.from(
      JSON.stringify(
        Object.entries(body.EncryptionContext ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    )
    calls.push({ operation, keyId: body.KeyId, context: body.EncryptionContext })
    if (operation === 'Encrypt')
      return {
        ...encrypt(key, context, body),
        KeyId: options.keyArn,
        EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      }
    if (operation === 'Decrypt')
      return {
        ...decrypt(key, context, body),
        KeyId: options.keyArn,
        EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      }
    throw new KmsError('UnknownOperationException')
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.setHeader('content-type', 'application/x-amz-json-1.1')
    try {
      response.end(JSON.stringify(answer(request, Buffer.concat(chunks).toString())))
    } catch (error) {
      if (!(error instanceof KmsError)) throw error
      response.statusCode = error.status
      response.end(JSON.stringify({ __type: error.type, message: error.type }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    fail: (status, type, times) => void (failure = { status, type, times }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function encrypt(key: Buffer, context: Buffer, { Plaintext }: Body): object {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(context)
  const sealed = Buffer.concat([
    cipher.update(Buffer.from(Plaintext ?? '', 'base64')),
    cipher.final(),
  ])
  return { CiphertextBlob: Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64') }
}

function decrypt(key: Buffer, context: Buffer, { CiphertextBlob }: Body): object {
  const blob = Buffer.from(CiphertextBlob ?? '', 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(0, 12))
      .setAAD(context)
      .setAuthTag(blob.subarray(12, 28))
    return {
      Plaintext: Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]).toString(
        'base64',
      ),
    }
  } catch {
    throw new KmsError('InvalidCiphertextException')
  }
}
