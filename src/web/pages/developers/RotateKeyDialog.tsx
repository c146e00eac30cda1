import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { GRACE_SECONDS, type ApiKeyRow } from '#contract/api-key-body.ts'
import { rotationOf } from '#contract/key-approval.ts'
import { call } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Select } from '../../ui/Select.tsx'
import { ApproveStep } from './ApproveStep.tsx'
import { KeyProblem } from './KeyProblem.tsx'
import type { ShownKey } from './NewKeyDialog.tsx'
import { SignerNote, useSigner } from './SignerNote.tsx'
import { useApproval } from './use-approval.ts'

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
export function RotateKeyDialog({
  keyRow,
  onClose,
  onMade,
}: {
  keyRow: ApiKeyRow
  onClose: () => void
  onMade: (made: ShownKey) => void
}) {
  const { t } = useLingui()
  const [grace, setGrace] = useState<Grace>(3600)
  const { id, name } = keyRow
  const signer = useSigner()
  const approving = useApproval(rotate)

  function ask(event: FormEvent) {
    event.preventDefault()
    if (signer && !approving.busy) void approving.ask(rotationOf(keyRow, grace), signer)
  }

  async function rotate(approval: string) {
    try {
      const options = { idempotencyKey: crypto.randomUUID(), confirmation: name, approval }
      const made = await call(
        'apiKeyRotate',
        { params: { id }, body: { graceSeconds: grace } },
        options,
      )
      onMade({ name: made.name, key: made.key })
    } finally {
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
      {approving.approval && <ApproveStep approval={approving.approval} approving={approving} />}
      <form className="grid gap-4" hidden={approving.approval !== undefined} onSubmit={ask}>
        <Field
          hint={<Trans>Time to bring the new key to your servers.</Trans>}
          label={<Trans>The old key works on for</Trans>}
        >
          <Select
            onChange={(event) =>
              setGrace(GRACE_SECONDS.find((each) => each === Number(event.target.value)) ?? 3600)
            }
            value={grace}
          >
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
        <SignerNote signer={signer} />
        {approving.problem !== undefined && <KeyProblem problem={approving.problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={approving.busy} disabled={!signer} type="submit" variant="primary">
            <Trans>Rotate key</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
