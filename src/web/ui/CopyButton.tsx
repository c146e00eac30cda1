import { useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { announce } from './announce.tsx'
import { Button } from './Button.tsx'
import { Icon } from './Icon.tsx'

/** Hands a file to the reader. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun by then; without this the file stays in memory until the page is closed.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export type CopyButtonProps = {
  value: string
  /** "Copy address". */
  label: string
  /** Shows the label beside the picture. */
  text?: boolean
  /** The main action of its page. */
  primary?: boolean
  /** Beside actions that decide something. */
  quiet?: boolean
}

/** Copies, and says so for two seconds; where the clipboard is closed to us it says that instead. */
export function CopyButton({ value, label, text, primary, quiet }: CopyButtonProps) {
  const { t } = useLingui()
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')

  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2000)
    return () => clearTimeout(timer)
  }, [state])

  async function copy() {
    try {
      await navigator.clipboard.writeText(value)
      setState('copied')
      announce(t`Copied`)
    } catch {
      setState('refused')
      announce(t`Copying is blocked.`)
    }
  }

  const icon = (
    <Icon name={state === 'copied' ? 'check' : state === 'refused' ? 'cross' : 'copy'} size={14} />
  )
  const words = state === 'copied' ? t`Copied` : state === 'refused' ? t`Not allowed` : label
  if (text) {
    return (
      <Button
        icon={icon}
        onClick={() => void copy()}
        size="sm"
        variant={primary ? 'primary' : quiet ? 'quiet' : 'secondary'}
      >
        {words}
      </Button>
    )
  }
  return (
    <button
      aria-label={label}
      className="touch-target inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:bg-hover hover:text-ink"
      onClick={() => void copy()}
      title={words}
      type="button"
    >
      {icon}
    </button>
  )
}
