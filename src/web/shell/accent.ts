/** The surfaces of styles.css that are closest to an accent, in each theme. */
const LIGHT = '#f0f1eb'
const DARK = '#202722'

/** WCAG AA for text. */
const ENOUGH = 4.5

/**
 * The tokens of styles.css for a merchant's colour. It is made darker for the light theme, and lighter for the dark one, until it can be read on
 * every surface, and text can be read on it.
 * @param color `#rrggbb`
 */
export function accentTokens(color: string): Readonly<Record<string, string>> {
  const light = untilReadable(color, { on: LIGHT, towards: '#000000' })
  const dark = untilReadable(color, { on: DARK, towards: '#ffffff' })
  const pair = (one: string, other: string) => `light-dark(${one}, ${other})`
  return {
    '--accent': pair(light, dark),
    '--accent-strong': pair(mix(light, '#000000', 0.2), mix(dark, '#ffffff', 0.2)),
    '--on-accent': pair('#ffffff', '#0b1c14'),
  }
}

function untilReadable(color: string, { on, towards }: { on: string; towards: string }): string {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(color, towards, share)
    if (contrastOf(mixed, on) >= ENOUGH) return mixed
  }
  return towards
}

/** `share` of the other colour, 0 to 1. */
function mix(one: string, other: string, share: number): string {
  const channels = [1, 3, 5].map((at) => {
    const [from, to] = [one, other].map((text) => Number.parseInt(text.slice(at, at + 2), 16))
    return Math.round((from ?? 0) * (1 - share) + (to ?? 0) * share)
  })
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

/** WCAG 2.2. */
export function contrastOf(one: string, other: string): number {
  const [high = 0, low = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
