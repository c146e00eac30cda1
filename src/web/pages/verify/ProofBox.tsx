import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type DragEvent } from 'react'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { cx } from '../../ui/button-class.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import type { Recognized } from './recognize.ts'

const MAX_FILE = 2 * 1024 * 1024

export type ProofBoxProps = {
  text: string
  found: Recognized
  onText: (text: string) => void
  /** Rows, a CSV or a JSON file of proofs. */
  many?: boolean
  /** The kinds of files that are offered. */
  accept: string
}

/** Where things are pasted or dropped. They stay in this browser until the reader says otherwise, and are gone with the page. */
export function ProofBox({ text, found, onText, many, accept }: ProofBoxProps) {
  const { t } = useLingui()
  const [over, setOver] = useState(false)
  const [userError, setUserError] = useState<string>()

  async function read(file: File | undefined) {
    if (!file) return
    if (file.size > MAX_FILE) return setUserError(t`Maximum: ${{ size: '2 MB' }}.`)
    setUserError(undefined)
    onText(await file.text())
  }

  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0])
  }

  const at = found.kind === 'problem' ? found.at : null
  const wrong = found.kind === 'problem' ? found.text : undefined
  return (
    <div
      className={cx('rounded-lg', over && 'outline-2 outline-offset-4 outline-accent')}
      onDragLeave={() => setOver(false)}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDrop={drop}
      role="presentation"
    >
      <Field
        error={
          wrong && (
            <>
              {at && <span className="me-1 font-mono text-[13px]">{at}:</span>}
              {wrong}
            </>
          )
        }
        hint={
          many ? (
            <Trans>One proof per line, CSV or JSON</Trans>
          ) : (
            <Trans>Payment header, curl, payment ID, transaction or receipt</Trans>
          )
        }
        label={many ? <Trans>Proofs</Trans> : <Trans>Payment to check</Trans>}
      >
        <TextArea
          className={found.kind === 'proof' ? '!max-h-44' : undefined}
          mono
          onChange={(event) => onText(event.target.value)}
          rows={many ? 8 : 4}
          value={text}
        />
      </Field>
      {userError && (
        <Banner className="mt-3" role="alert" tone="warn">
          {userError}
        </Banner>
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        <FilePicker accept={accept} onFile={(file) => void read(file)} />
        {text !== '' && (
          <Button onClick={() => onText('')} size="sm" variant="quiet">
            <Trans>Clear</Trans>
          </Button>
        )}
      </div>
    </div>
  )
}

function FilePicker({
  accept,
  onFile,
}: {
  accept: string
  onFile: (file: File | undefined) => void
}) {
  return (
    <label className="touch-target inline-flex h-8 cursor-pointer items-center gap-1.5 rounded-lg border border-edge bg-surface px-2.5 text-sm font-medium text-ink hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <Icon name="table" />
      <Trans>Open a file</Trans>
      <input
        accept={accept}
        className="sr-only"
        onChange={(event) => {
          onFile(event.target.files?.[0])
          event.target.value = ''
        }}
        type="file"
      />
    </label>
  )
}
