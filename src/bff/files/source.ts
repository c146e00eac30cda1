import { AwsV4Signer } from 'aws4fetch'
import type { FileSource, SourceFacts } from '#contract/file-endpoints.ts'
import type { FileSourceInput } from '#contract/browser-endpoints.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { EgressError, EgressRefusedError, type ExternalRequest } from '#egress/exchange.ts'
import { openStream, type ExternalStream } from '#egress/stream.ts'
import { refuseUrl } from '#egress/public-address.ts'
import { seal, unseal, type Owner } from '#signer/seal.ts'
import type { FilesConfig } from '../config/files-config.ts'
import type { ProxyContext } from '../context/context.ts'
import { findContent, type FileRow } from '../db/files.ts'
import { requireNoProblems } from '../http/parse.ts'
import { maySeal } from './source-key.ts'

const ANSWER_MS = 15_000
const SILENT_MS = 30_000
const TOTAL_MS = 3_600_000
const RETRY_AFTER_S = 30

/** Headers that belong to the connection, or that this program sets itself. */
const NO_CREDENTIAL =
  /^(accept-encoding|connection|content-.*|expect|host|keep-alive|proxy-.*|range|te|trailer|transfer-encoding|upgrade|user-agent)$/i
const MIME_TYPE =
  /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}(; ?charset=[a-z0-9-]{1,20})?$/i
const UNKNOWN_TYPE = 'application/octet-stream'

const PROBLEM_TEXTS = {
  address: 'This address may not be read: it is not https on port 443, or not public.',
  unreachable: 'The source did not answer.',
  refused: 'The source refused the credentials.',
  missing: 'The source has no file at this address.',
  redirect: 'The source redirects. Enter the address that it redirects to.',
  too_large: 'The file is larger than this proxy passes on.',
  empty: 'The file is empty.',
  answer: 'The source gave an answer that is no file.',
  sealed: 'The stored credentials cannot be opened. Enter the source again.',
} as const
type SourceReason = keyof typeof PROBLEM_TEXTS

/** A source that gives no file now. Its words are for the merchant; buyers are told less. */
export class SourceError extends Error {
  override name = 'SourceError'
  readonly reason: SourceReason

  constructor(reason: SourceReason, options?: ErrorOptions) {
    super(PROBLEM_TEXTS[reason], options)
    this.reason = reason
  }
}

/** A part of a file, both ends included. */
export type ByteRange = { start: number; end: number }

/** A file that is being read. Its reader consumes `body` or calls `close`. */
export type OpenedSource = {
  /** Undefined: the whole file. */
  range: (ByteRange & { total: number | null }) | undefined
  /** Of the body; null where the source does not say. */
  length: number | null
  mimeType: string
  body: AsyncGenerator<Uint8Array, void>
  close: () => void
}

/** What of a row says where its file is. */
export type StoredSource = Pick<
  FileRow,
  'id' | 'source' | 'sourceId' | 'credential' | 'content' | 'ranges'
>

type SourceContext = Pick<ProxyContext, 'config' | 'vault' | 'db'>

type Secret =
  | { type: 'header'; name: string; value: string }
  | { type: 'basic'; user: string; password: string }
  | { type: 's3'; secretAccessKey: string }

/**
 * Reads a source as it was entered: what is kept of it, its credentials sealed.
 * @throws ProblemError `INVALID_PARAMETERS` that names the field
 */
export async function storeSource(
  { config, vault, db }: SourceContext,
  fileId: string,
  input: FileSourceInput,
): Promise<StoredSource> {
  const stored = { id: fileId, sourceId: createId('src'), ranges: true, content: null }
  if (input.kind === 'text')
    return { ...stored, source: { kind: 'text' }, credential: null, content: input.text }
  const { source, secret } = split(input)
  const problem = refuseUrl(
    new URL(source.kind === 's3' ? source.endpoint : source.url),
    config.files?.loopback ?? false,
  )
  const field = source.kind === 's3' ? 'source.endpoint' : 'source.url'
  requireNoProblems({
    ...(problem !== undefined && { [field]: problem }),
    ...(secret?.type === 'header' &&
      NO_CREDENTIAL.test(secret.name) && {
        'source.credential.name': `Expected another header: this proxy sets ${secret.name} itself.`,
      }),
    ...(secret &&
      !vault && {
        'source.credential':
          'This proxy keeps no credentials. Set SOURCE_KEY_FILE and start it again.',
      }),
  })
  if (!secret || !vault) return { ...stored, source, credential: null }
  if (!(await maySeal(vault, { config, db })))
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message:
        'Another proxy of this database has another key of SOURCE_KEY_FILE. Give all proxies the same file and start them again. Nothing was stored.',
      retryAfter: RETRY_AFTER_S,
    })
  const bytes = Buffer.from(JSON.stringify(secret))
  const owner = ownerOf({ ...stored, source })
  const credential = await seal(vault, owner, bytes).finally(() => bytes.fill(0))
  return { ...stored, source, credential }
}

function split(input: Exclude<FileSourceInput, { kind: 'text' }>): {
  source: Exclude<FileSource, { kind: 'text' }>
  secret: Secret | undefined
} {
  if (input.kind === 's3') {
    const { secretAccessKey, ...source } = input
    return { source, secret: { type: 's3', secretAccessKey } }
  }
  const { credential, ...source } = input
  return { source: { ...source, credential: credential?.type ?? 'none' }, secret: credential }
}

/** The credentials are for this source alone: another address in the row opens nothing. */
function ownerOf({ id, source, sourceId }: Pick<FileRow, 'id' | 'source' | 'sourceId'>): Owner {
  return { id: sourceId, accountId: id, family: 'source', address: JSON.stringify(sorted(source)) }
}

/** The database may return the fields in another order. */
function sorted(source: FileSource): [string, string][] {
  return Object.entries(source).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * Nothing is charged for what cannot be sent: the source is asked first.
 * @throws ProblemError `SERVICE_UNAVAILABLE`
 */
export async function requireSource(
  context: SourceContext & Pick<ProxyContext, 'log'>,
  file: StoredSource,
): Promise<SourceFacts> {
  try {
    return await probeSource(context, file)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    context.log.warn({ err: error, fileId: file.id }, 'a source gives no file')
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message:
        'The file cannot be read now. Nothing was charged. Try again later, with the same payment if you have sent one.',
      reason: 'source_unavailable',
      retryAfter: 5,
    })
  }
}

/** What the source says of its file now. @throws SourceError */
export async function probeSource(
  context: SourceContext,
  file: StoredSource,
): Promise<SourceFacts> {
  if (file.source.kind === 'text') {
    const size = Buffer.byteLength(await textOf(context.db, file))
    return { size, mimeType: 'text/plain; charset=utf-8', ranges: true }
  }
  const opened = await openSource(context, file, { start: 0, end: 0 })
  opened.close()
  const { range, length, mimeType } = opened
  const size = range ? range.total : length
  if (size === 0) throw new SourceError('empty')
  if (size !== null && size > (context.config.files?.maxBytes ?? 0))
    throw new SourceError('too_large')
  return { size, mimeType, ranges: range !== undefined }
}

/**
 * Begins to read a file, or a part of it. A source that gives no parts gives the whole file.
 * @throws SourceError
 */
export async function openSource(
  { config, vault, db }: SourceContext,
  file: StoredSource,
  range?: ByteRange,
): Promise<OpenedSource> {
  if (file.source.kind === 'text') return openText(await textOf(db, file), range)
  const secret = file.credential && (await openSecret(vault, file))
  const headers: Record<string, string> = range
    ? { range: `bytes=${range.start}-${range.end}` }
    : {}
  const question = await questionOf(file.source, secret, headers)
  const stream = await requestSource(question, config.files)
  try {
    return readAnswer(stream, range)
  } catch (error) {
    stream.close()
    throw error
  }
}

/** As it was entered, or as it is kept. */
async function textOf(db: ProxyContext['db'], { id, content }: StoredSource): Promise<string> {
  return content ?? (await findContent(db, id)) ?? ''
}

async function openSecret(
  vault: ProxyContext['vault'],
  { credential, ...file }: StoredSource,
): Promise<Secret | null> {
  if (!credential) return null
  if (!vault) throw new SourceError('sealed')
  try {
    const bytes = await unseal(vault, ownerOf(file), credential)
    // Written by `storeSource`, and authenticated by the seal.
    return JSON.parse(Buffer.from(bytes).toString()) as Secret
  } catch (error) {
    throw new SourceError('sealed', { cause: error })
  }
}

async function questionOf(
  source: Exclude<FileSource, { kind: 'text' }>,
  secret: Secret | null,
  headers: Record<string, string>,
): Promise<ExternalRequest> {
  if (source.kind === 's3') {
    const path = [source.bucket, ...source.key.split('/')].map(encodeURIComponent).join('/')
    const signer = new AwsV4Signer({
      url: `${source.endpoint.replace(/\/+$/, '')}/${path}`,
      service: 's3',
      region: source.region,
      accessKeyId: source.accessKeyId,
      secretAccessKey: secret?.type === 's3' ? secret.secretAccessKey : '',
    })
    const signed = await signer.sign()
    return {
      method: 'GET',
      url: signed.url,
      headers: { ...Object.fromEntries(signed.headers), ...headers },
    }
  }
  const url = new URL(source.url)
  if (secret?.type === 'header')
    return { method: 'GET', url, headers: { [secret.name]: secret.value, ...headers } }
  if (secret?.type === 'basic') {
    const token = Buffer.from(`${secret.user}:${secret.password}`).toString('base64')
    return { method: 'GET', url, headers: { authorization: `Basic ${token}`, ...headers } }
  }
  return { method: 'GET', url, headers }
}

async function requestSource(
  question: ExternalRequest,
  files: FilesConfig | undefined,
): Promise<ExternalStream> {
  try {
    return await openStream(question, {
      answerMs: ANSWER_MS,
      silentMs: SILENT_MS,
      totalMs: TOTAL_MS,
      maxBytes: files?.maxBytes ?? 0,
      loopback: files?.loopback ?? false,
    })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    const reason = error instanceof EgressRefusedError ? 'address' : 'unreachable'
    throw new SourceError(reason, { cause: error })
  }
}

function readAnswer(
  { status, headers, body, close }: ExternalStream,
  requested: ByteRange | undefined,
): OpenedSource {
  const declared = headers['content-length']
  const length = declared === undefined ? null : Number(declared)
  const type = headers['content-type'] ?? ''
  const opened = { length, mimeType: MIME_TYPE.test(type) ? type : UNKNOWN_TYPE, body, close }
  if (status === 200) return { ...opened, range: undefined }
  if (status === 206 && requested) {
    const range = readContentRange(headers['content-range'])
    // A source may end before the end that was asked for, but never begins elsewhere.
    if (range?.start === requested.start && range.end <= requested.end) return { ...opened, range }
  }
  if (status === 401 || status === 403) throw new SourceError('refused')
  if (status === 404 || status === 410) throw new SourceError('missing')
  if (status >= 300 && status < 400) throw new SourceError('redirect')
  if (status === 416 && requested?.start === 0) throw new SourceError('empty')
  throw new SourceError('answer')
}

function readContentRange(text: string | undefined): OpenedSource['range'] {
  const [, start, end, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(text ?? '') ?? []
  if (start === undefined || end === undefined || total === undefined) return undefined
  const range = { start: Number(start), end: Number(end) }
  return { ...range, total: total === '*' ? null : Number(total) }
}

function openText(text: string, range: ByteRange | undefined): OpenedSource {
  const whole = Buffer.from(text)
  const bytes = range ? whole.subarray(range.start, range.end + 1) : whole
  return {
    range: range && { ...range, total: whole.length },
    length: bytes.length,
    mimeType: 'text/plain; charset=utf-8',
    body: (async function* () {
      yield bytes
    })(),
    close: () => undefined,
  }
}

/**
 * The part that a header `Range` asks for (RFC 9110, 14.2). Undefined: the whole file, also for
 * several parts and for what cannot be read, as the RFC allows.
 */
export function readRange(
  header: string | undefined,
  size: number | null,
): ByteRange | 'unsatisfiable' | undefined {
  if (header === undefined || size === null) return undefined
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const suffix = Math.min(Number(last), size)
    return suffix === 0 ? 'unsatisfiable' : { start: size - suffix, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}
