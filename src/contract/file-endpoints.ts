import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { decimalText } from './quote.ts'

/**
 * Files that are sold: the proxy's own endpoints. Buyers' programs get a file from its public
 * address, `GET /api/file/:code`, over x402; people pay its checkout links.
 */

/** A text that is pasted into the form has at most so many bytes of UTF-8. */
export const MOST_TEXT_BYTES = 256 * 1024

export const FILE_PATH = '/api/file/:code'
/** What a download is read from, once. */
export const DOWNLOAD_PATH = '/api/download/:ticket'

/** Where a file is read, without anything secret. */
export const FileSource = v.variant('kind', [
  v.object({ kind: v.literal('text') }),
  v.object({
    kind: v.literal('https'),
    url: v.string(),
    /** How the source is shown the stored credentials. */
    credential: v.picklist(['none', 'header', 'basic']),
  }),
  v.object({
    kind: v.literal('s3'),
    endpoint: v.string(),
    region: v.string(),
    bucket: v.string(),
    key: v.string(),
    accessKeyId: v.string(),
  }),
])
export type FileSource = v.InferOutput<typeof FileSource>

/** What a source said of its file. */
export const SourceFacts = v.object({
  /** In bytes; null where the source does not say. */
  size: v.nullable(v.number()),
  mimeType: v.string(),
  /** Whether parts of it can be asked for. */
  ranges: v.boolean(),
})
export type SourceFacts = v.InferOutput<typeof SourceFacts>

/** A price, and the checkout link that asks for it. */
const FilePrice = v.object({ currency: v.string(), amount: decimalText, link: v.string() })

/** A file as its merchant sees it. */
export const FileBody = v.object({
  id: v.string(),
  /** The public address: programs pay there, people are sent to the page of the file. */
  url: v.string(),
  code: v.string(),
  name: v.string(),
  /** What a download is saved as. */
  fileName: v.string(),
  ...SourceFacts.entries,
  source: FileSource,
  prices: v.array(FilePrice),
  /** Paid payments, refunded ones too. */
  sales: v.number(),
  /** Downloads that reached their reader to the last byte. */
  downloads: v.number(),
  /** Paid payments whose payer has not had a whole download yet. */
  undelivered: v.number(),
  /** Of these, those whose payer came for the file and whose source gave none. */
  failed: v.number(),
  createdAt: timestamp,
  withdrawnAt: v.nullable(timestamp),
})
export type FileBody = v.InferOutput<typeof FileBody>

const FileAnswer = v.object({ file: FileBody })

/** A file as anybody sees it. */
export const OpenedFile = v.object({
  name: v.string(),
  fileName: v.string(),
  size: v.nullable(v.number()),
  mimeType: v.string(),
  prices: v.array(FilePrice),
  withdrawn: v.boolean(),
  /** Whether a wallet of this session, or this session itself, has paid for it. */
  paid: v.boolean(),
})
export type OpenedFile = v.InferOutput<typeof OpenedFile>

export const fileEndpoints = {
  /** `offered`: whether the proxy is configured to sell files. `sealed`: whether it can keep credentials. */
  fileList: {
    method: 'GET',
    path: '/files',
    response: v.object({ offered: v.boolean(), sealed: v.boolean(), files: v.array(FileBody) }),
  },
  /** Paid payments whose source gave no file, that are neither refunded in full nor in `GET /undelivered`; at most 100 are counted. */
  fileFailures: {
    method: 'GET',
    path: '/files/failures',
    response: v.object({ failed: v.number() }),
  },
  fileCreate: { method: 'POST', path: '/files', response: FileAnswer },
  /** What a source says of its file now; nothing is kept. */
  fileCheck: { method: 'POST', path: '/files/check', response: SourceFacts },
  /** Another name, or another source. Prices never change. */
  fileUpdate: { method: 'POST', path: '/files/update', response: FileAnswer },
  /** From now on it is not sold; who bought it keeps it. `fileRestore` reverses that. */
  fileWithdraw: { method: 'POST', path: '/files/withdraw', response: FileAnswer },
  fileRestore: { method: 'POST', path: '/files/restore', response: FileAnswer },
  /** Only a file that nobody bought. */
  fileDelete: { method: 'POST', path: '/files/delete', response: v.object({ id: v.string() }) },
  /** For anybody who has the code. */
  fileOpen: { method: 'POST', path: '/files/open', response: OpenedFile },
  /** An address to download from, for who has paid: once, within 60 seconds. */
  fileDownload: {
    method: 'POST',
    path: '/files/download',
    response: v.object({ url: v.string(), expiresAt: timestamp }),
  },
} as const satisfies Record<string, Call>
