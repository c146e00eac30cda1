import { Trans } from '@lingui/react/macro'
import { useEffect, useState, type ReactNode } from 'react'

const SILENT_AFTER_MS = 3_000

export type SilentServerProps = {
  url: string
  /** What the reader can do about it. */
  children?: ReactNode
}

/** A server may take a minute: the reader learns whom the page waits for. */
export function SilentServer({ url, children }: SilentServerProps) {
  const [silent, setSilent] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSilent(true), SILENT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  const host = URL.canParse(url) ? new URL(url).host : url
  return (
    <div className={silent ? 'mt-3 flex flex-wrap items-center gap-3' : undefined}>
      <p className="text-sm text-muted" role="status">
        {silent && <Trans>{host} has not answered yet.</Trans>}
      </p>
      {silent && children}
    </div>
  )
}
