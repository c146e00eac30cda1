import { MOST_IMAGE_BYTES } from '#contract/image.ts'

/** Pixels of each side, at most: the checkout shows a quarter of it. */
const SIDE = 320
const QUALITIES = [0.85, 0.6, 0.4]

/**
 * Draws a picture again, small: what a camera writes beside it, such as the place, is not sent.
 * @returns base64, or undefined where the browser cannot read the file
 */
export async function shrinkImage(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined)
  if (!picture) return undefined
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  for (const quality of QUALITIES) {
    const blob = await encode(canvas, quality)
    if (blob && blob.size <= MOST_IMAGE_BYTES) return base64Of(blob)
  }
  return undefined
}

/** WebP where the browser writes it, PNG otherwise. */
function encode(canvas: HTMLCanvasElement, quality: number): Promise<Blob | null> {
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', quality))
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
