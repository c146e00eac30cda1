import { useEffect, useState } from 'react'

export type QrCodeProps = {
  /** The encoded text. */
  value: string
  /** What it is for, with its content in words: for people who cannot see or scan it. */
  label: string
  className?: string
}

/** A QR code: dark on white in every theme, as readers expect, with the quiet zone they need. */
export function QrCode({ value, label, className }: QrCodeProps) {
  // Which modules are dark takes a library that no page needs to begin with.
  const [drawn, setDrawn] = useState<{ value: string; size: number; path: string }>()
  useEffect(() => {
    let gone = false
    void import('uqr').then(({ encode }) => {
      const { data, size: modules } = encode(value, { ecc: 'M', border: 4 })
      // One rectangle per run of dark modules: a tenth of the nodes, and no seams between them.
      const runs = data.flatMap((row, y) =>
        runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
      )
      if (!gone) setDrawn({ value, size: modules, path: runs.join('') })
    })
    return () => {
      gone = true
    }
  }, [value])
  // Never the code of a value before.
  const { size, path } = drawn?.value === value ? drawn : { size: 1, path: '' }
  return (
    <svg
      aria-label={label}
      className={`block rounded-lg bg-white forced-color-adjust-none ${className ?? ''}`}
      role="img"
      shapeRendering="crispEdges"
      viewBox={`0 0 ${size} ${size}`}
    >
      <path d={`M0 0h${size}v${size}H0z`} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function runsOf(row: readonly boolean[]): [number, number][] {
  const runs: [number, number][] = []
  for (const [x, dark] of row.entries()) {
    const last = runs.at(-1)
    if (!dark) continue
    if (last && last[0] + last[1] === x) last[1]++
    else runs.push([x, 1])
  }
  return runs
}
