import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { GRACE_SECONDS, type ApiKeyRow } from '#contract/api-key-body.ts'
import { call } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Select } from '../../ui/Select.tsx'
import { KeyProblem } from './KeyProblem.tsx'
import type { NewKey } from './NewKeyDialog.tsx'

type Grace = (typeof GRACE_SECONDS)[number]

const graceWords: Readonly<Record<Grace, MessageDescriptor>> = {
  0: msg`It ends at once`,
  60: msg`1 minute`,
  900: msg`15 minutes`,
  3600: msg`1 hour`,
  21600: msg`6 hours`,
  86400: msg`1 day`,
}

/** Makes a successor of the same name and scopes. Both work until the grace ends. */
export function RotateKeyDialog({ keyRow, onClose, onMade }: { keyRow: ApiKeyRow; onClose: () => void; onMade: (made: NewKey) => void }) {
  const { t } = useLingui()
  const [grace, setGrace] = useState<Grace>(3600)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const { id, name } = keyRow

  async function rotate(event: FormEvent) {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      const made = await call('apiKeyRotate', { params: { id }, body: { graceSeconds: grace } }, { idempotencyKey: crypto.randomUUID(), confirmation: name })
      onMade({ name: made.name, key: made.key })
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries(apiKeysQuery)
    }
  }

  return (
    <Dialog
      description={<Trans>A new key takes its place, with the same name, scopes and end.</Trans>}
      onClose={onClose}
      open
      size="sm"
      title={<Trans>Rotate “{name}”</Trans>}
    >
      <form className="grid gap-4" onSubmit={(event) => void rotate(event)}>
        <Field hint={<Trans>Time to bring the new key to your servers.</Trans>} label={<Trans>The old key works on for</Trans>}>
          <Select onChange={(event) => setGrace(GRACE_SECONDS.find((each) => each === Number(event.target.value)) ?? 3600)} value={grace}>
            {GRACE_SECONDS.map((each) => (
              <option key={each} value={each}>
                {t(graceWords[each])}
              </option>
            ))}
          </Select>
        </Field>
        {grace === 0 && (
          <Banner tone="warn">
            <Trans>Servers with the old key are refused from this moment.</Trans>
          </Banner>
        )}
        {problem !== undefined && <KeyProblem problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} type="submit" variant="primary">
            <Trans>Rotate key</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
