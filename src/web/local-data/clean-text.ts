// What joins or colours an emoji belongs to it; the same characters anywhere else hide something.
// Bidirectional controls, zero-width characters, soft hyphen, variation fillers, tags, and control characters but tab and newline.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic})\ufe0f|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d/gu

/** Text without the characters that hide or reorder it, and how many there were. */
export function cleanText(text: string): { text: string; removed: number } {
  let removed = 0
  const clean = text.replace(HIDDEN, () => {
    removed++
    return ''
  })
  return { text: clean, removed }
}
