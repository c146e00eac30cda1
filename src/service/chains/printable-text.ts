const MAX_LENGTH = 100

/** A name that somebody on the chain chose: without control, bidi and zero-width characters, cut to 100; null when nothing is left. */
export function printableText(text: string): string | null {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
  return clean === '' ? null : [...clean].slice(0, MAX_LENGTH).join('')
}
