import { readFileSync } from 'node:fs'
import * as v from 'valibot'

/** Every checkout loads it. */
const MOST_LOGO_BYTES = 16 * 1024

/** By their first bytes: the name of a file says nothing. */
function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'png'
  if (bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))) return 'jpeg'
  const [riff, webp] = [bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12)]
  return riff === 'RIFF' && webp === 'WEBP' ? 'webp' : undefined
}

/** The merchant's picture and colour in a checkout: a `data:` URL and `#rrggbb`. */
export type Brand = { logo?: string | undefined; accentColor?: string | undefined }

/** The name of a picture's file becomes the picture. */
const LogoFile = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const refuse = (message: string) => {
      addIssue({ message })
      return NEVER
    }
    let bytes: Buffer
    try {
      bytes = readFileSync(dataset.value)
    } catch {
      return refuse(`${JSON.stringify(dataset.value)} cannot be read.`)
    }
    if (bytes.length > MOST_LOGO_BYTES) return refuse(`It has ${bytes.length} bytes.`)
    const type = typeOf(bytes)
    return type === undefined
      ? refuse('It is none of these.')
      : `data:image/${type};base64,${bytes.toString('base64')}`
  }),
)

const AccentColor = v.pipe(v.string(), v.toLowerCase(), v.regex(/^#[0-9a-f]{6}$/))

export const brandVariables = {
  LOGO_FILE: {
    schema: v.optional(LogoFile),
    expected: 'a PNG, JPEG or WebP file of at most 16 KiB',
    example: '/etc/paydesk/logo.png',
  },
  ACCENT_COLOR: {
    schema: v.optional(AccentColor),
    expected: 'a colour with six hex digits',
    example: '#14573f',
  },
} as const
