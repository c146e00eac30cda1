import { parseJson } from '#contract/json.ts'
import { encodeBase64 } from '#x402/header.ts'
import { headerOf } from './challenge.ts'
import type { ResourceResponse } from './send-request.ts'

/**
 * How a response's body is shown: as text, a tree, a picture, or the text of a page. Nothing in it
 * is executed.
 */
export type ShownBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'page'; text: string }
  | { kind: 'image'; src: string }
  | { kind: 'binary' }

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)$/
/** Longer text is offered as a file to save. */
const MAX_TEXT = 200_000

export function mimeTypeOf(answer: Pick<ResourceResponse, 'headers'>): string {
  return (headerOf(answer, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

export function readBody(answer: ResourceResponse): ShownBody {
  if (answer.body.length === 0) return { kind: 'empty' }
  const mimeType = mimeTypeOf(answer)
  if (IMAGE.test(mimeType))
    return { kind: 'image', src: `data:${mimeType};base64,${encodeBase64(answer.body)}` }
  const text = readText(answer.body, charsetOf(answer))
  if (text === undefined || text.length > MAX_TEXT) return { kind: 'binary' }
  if (mimeType === '' || mimeType.endsWith('json')) {
    try {
      return { kind: 'json', value: parseJson(text), text }
    } catch {
      return { kind: 'text', text }
    }
  }
  return { kind: HTML.test(mimeType) ? 'page' : 'text', text }
}

function charsetOf(answer: Pick<ResourceResponse, 'headers'>): string {
  return (
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headerOf(answer, 'content-type') ?? '')?.[1] ?? 'utf-8'
  )
}

/** Text in the charset its sender names; undefined if it cannot be decoded or contains a NUL. */
function readText(body: Uint8Array, charset: string): string | undefined {
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(body)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
