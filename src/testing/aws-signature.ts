import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type AwsAccount = { accessKeyId: string; secretAccessKey: string; region: string }

/**
 * Whether a request without a query has the Signature Version 4 of an account: canonical request, string to sign, derived key. Computed from the
 * documents of AWS, not by a client's own library.
 */
export function isAwsSigned(
  request: IncomingMessage,
  { service, path, payload }: { service: string; path: string; payload: string },
  { accessKeyId, secretAccessKey, region }: AwsAccount,
): boolean {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    )
  if (!parts) return false
  const [, id, day = '', signedRegion, signedService, names = '', signature] = parts
  if (id !== accessKeyId || signedRegion !== region || signedService !== service) return false
  const headers = names
    .split(';')
    .map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, path, '', headers.join(''), names, payload].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join(
    '\n',
  )
  const signingKey = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (key, part) => hmac(key, part),
    `AWS4${secretAccessKey}`,
  )
  return hmac(signingKey, text).toString('hex') === signature
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
