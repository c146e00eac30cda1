import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useRef, useState } from 'react'
import { exportAddresses, importAddresses } from '../../local-data/address-book/exchange.ts'
import { getAddressBook, replaceAll, useAddressBook } from '../../local-data/address-book/store.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { toast } from '../../ui/Toast.tsx'

const MAX_BYTES = 1024 * 1024

/**
 * Exports and imports the address book as a file. An import reports its counts and can be undone.
 */
export function AddressFile() {
  const { t } = useLingui()
  const entries = useAddressBook()
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string>()

  async function read(file: File) {
    const result =
      file.size <= MAX_BYTES
        ? importAddresses(await file.text(), getAddressBook())
        : { ok: false as const }
    if (!result.ok) return setProblem(t`This file is no address book. Nothing was changed.`)
    const { entries: next, added, changed, refused } = result.result
    const lines = refused.map(({ line }) => line).join(', ')
    setProblem(
      refused.length > 0
        ? t`${plural(refused.length, { one: '# entry of the file could not be read and was left out', other: '# entries of the file could not be read and were left out' })}: ${lines}.`
        : undefined,
    )
    const undo = replaceAll(next)
    toast(
      t`${plural(added, { one: '# address added', other: '# addresses added' })}, ${plural(changed, { one: '# changed', other: '# changed' })}.`,
      { undo },
    )
  }

  return (
    <div className="mt-5">
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => input.current?.click()} size="sm">
          <Trans>Import a file</Trans>
        </Button>
        {entries.length > 0 && (
          <Button onClick={() => download(exportAddresses(entries))} size="sm">
            <Trans>Export</Trans>
          </Button>
        )}
      </div>
      <input
        accept="application/json,.json"
        aria-label={t`Address book file`}
        className="sr-only"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          if (file) void read(file)
        }}
        ref={input}
        tabIndex={-1}
        type="file"
      />
      {problem && (
        <Banner className="mt-3" role="alert" tone="warn">
          {problem}
        </Banner>
      )}
    </div>
  )
}

function download(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'paydesk-address-book.json'
  link.click()
  URL.revokeObjectURL(url)
}
