import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { GRACE_SECONDS } from '#contract/api-key-body.ts'
import type { Network } from '#contract/network.ts'
import { ApiError } from '../../api/errors.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeRefusal, refusalOf, formatRefusal } from '../../errors/refusals.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { CopyButton, saveFile } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Select } from '../../ui/Select.tsx'
import { ENV_FILE, environmentOf } from './receive-server.ts'

/** A key in the one moment in which it can be seen. It is in no store and no address of this page. */
export type ShownKey = { name: string; key: string }

type Props = { made: ShownKey; network: Network | undefined; onClose: () => void }

/** Cannot be closed by accident: what is not copied now is gone. The env file is for `network`. */
export function NewKeyDialog({ made, network, onClose }: Props) {
  const { t } = useLingui()
  const [shown, setShown] = useState(false)
  const [stored, setStored] = useState(false)
  const { key } = made
  const { serviceUrl, sellerWallets } = useConfig()

  function save() {
    const text = network
      ? environmentOf(network, { serviceUrl, wallets: sellerWallets, key })
      : `PAYDESK_KEY=${key}\n`
    saveFile(new Blob([text], { type: 'text/plain' }), ENV_FILE)
  }

  return (
    <Dialog
      description={<Trans>Shown only once.</Trans>}
      dismissable={false}
      footer={
        <Button disabled={!stored} onClick={onClose} variant="primary">
          <Trans>Done</Trans>
        </Button>
      }
      onClose={onClose}
      open
      title={<Trans>Copy your key now</Trans>}
    >
      <div className="grid gap-4">
        <div className="flex items-center gap-2 rounded-lg border border-edge bg-sunken px-3 py-2">
          <code
            aria-label={t`API key`}
            className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]"
          >
            {shown ? key : `${key.slice(0, 8)}${'•'.repeat(24)}`}
          </code>
          <Button onClick={() => setShown(!shown)} size="sm" variant="quiet">
            {shown ? <Trans>Hide</Trans> : <Trans>Show</Trans>}
          </Button>
        </div>
        <div className="flex flex-wrap gap-2">
          <CopyButton label={t`Copy`} text value={key} />
          <Button icon={<Icon name="download" size={14} />} onClick={save} size="sm">
            <Trans>Download {ENV_FILE}</Trans>
          </Button>
        </div>
        <Banner tone="warn">
          <Trans>Keep it on a server.</Trans>
        </Banner>
        <Checkbox
          checked={stored}
          label={<Trans>I have stored it.</Trans>}
          onChange={(event) => setStored(event.target.checked)}
        />
      </div>
    </Dialog>
  )
}

export type Grace = (typeof GRACE_SECONDS)[number]

/** What a reader is offered first. */
export const USUAL_GRACE: Grace = 3600

const words: Readonly<Record<Grace, MessageDescriptor>> = {
  0: msg`Revoke now`,
  60: msg`1 minute`,
  900: msg`15 minutes`,
  3600: msg`1 hour`,
  21600: msg`6 hours`,
  86400: msg`1 day`,
}

type GraceSelectProps = { value: Grace; onChange: (grace: Grace) => void }

/** How long a key or a secret that was replaced is still valid, in seconds. */
export function GraceSelect({ value, onChange }: GraceSelectProps) {
  const { t } = useLingui()
  return (
    <Select
      onChange={(event) =>
        onChange(GRACE_SECONDS.find((each) => each === Number(event.target.value)) ?? USUAL_GRACE)
      }
      value={value}
    >
      {GRACE_SECONDS.map((each) => (
        <option key={each} value={each}>
          {t(words[each])}
        </option>
      ))}
    </Select>
  )
}

/** Why a key was not made or ended. An answer that was lost may have made one, whose text nobody saw. */
export function KeyProblem({ problem }: { problem: unknown }) {
  const { title, body, said } = describeKeyProblem(problem)
  return (
    <Banner role="alert" title={title} tone="bad">
      {body}
      {said !== undefined && <p className="mt-1 font-mono text-xs">{said}</p>}
    </Banner>
  )
}

type Words = {
  title: string
  body: string
  /** The service's own words, which name the scope or the plan. */ said?: string
}

function describeKeyProblem(problem: unknown): Words {
  if (!(problem instanceof ApiError) || refusalOf(problem)) return describeRefusal(problem)
  if (problem.code === 'OFFLINE' || problem.code === 'TIMEOUT' || problem.code === 'BAD_RESPONSE')
    return formatRefusal('key_answer_lost')
  return problem.code === 'FORBIDDEN'
    ? { ...formatRefusal('key_not_given'), said: problem.message }
    : describeRefusal(problem)
}
