import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { call } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { KeyProblem } from './KeyProblem.tsx'

/** Deletes a key permanently, after its name was typed. The proxy compares the name again. */
export function DeleteKeyDialog({ keyRow, onClose }: { keyRow: ApiKeyRow; onClose: () => void }) {
  const { t } = useLingui()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const { id, name, lastUsedAt } = keyRow
  const same = typed.trim() === name

  async function remove(event: FormEvent) {
    event.preventDefault()
    if (!same || busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await call('apiKeyDelete', { params: { id } }, { confirmation: typed.trim() })
      toast(t`Key “${name}” deleted`)
      onClose()
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries(apiKeysQuery)
    }
  }

  const time = lastUsedAt !== null && <Time at={lastUsedAt} look="relative" />
  return (
    <Dialog onClose={onClose} open size="sm" title={<Trans>Delete “{name}”</Trans>}>
      <form className="grid gap-4" onSubmit={(event) => void remove(event)}>
        <Banner tone={lastUsedAt === null ? 'info' : 'bad'}>
          {time ? (
            <Trans>
              It was last used {time}. Servers that use it are refused from this moment, and it
              cannot be brought back.
            </Trans>
          ) : (
            <Trans>It was never used. It cannot be brought back.</Trans>
          )}
        </Banner>
        <Field
          label={
            <Trans>
              Type <span className="font-mono text-[13px] font-semibold">{name}</span> to confirm
            </Trans>
          }
        >
          <Input onChange={(event) => setTyped(event.target.value)} value={typed} />
        </Field>
        {problem !== undefined && <KeyProblem problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} disabled={!same} type="submit" variant="danger">
            <Trans>Delete key</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
