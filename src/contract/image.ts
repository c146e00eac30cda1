/**
 * Pictures of products. The proxy stores them and the page shows them as data: a payer's browser
 * asks no other host, which would learn who looks at what. SVG may hold scripts and is none of the
 * types.
 */

/** Bytes of a picture. In base64 it fits a request. */
export const MOST_IMAGE_BYTES = 40 * 1024

const SIGNATURES = [
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  /** RIFF, four bytes of length, WEBP. */
  { type: 'image/webp', bytes: [0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x45, 0x42, 0x50] },
] as const

/** The type that the bytes begin with, whatever a sender says; undefined for any other. */
export function imageTypeOf(data: Uint8Array): string | undefined {
  return SIGNATURES.find(({ bytes }) =>
    bytes.every((byte, index) => byte === -1 || data[index] === byte),
  )?.type
}
