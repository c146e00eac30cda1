import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Network } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { ENV_FILE, environmentOf } from './receive-server.ts'

/** A key in the one moment in which it can be seen. It is in no store and no address of this page. */
export type ShownKey = { name: string; key: string }

type Props = { made: ShownKey; network: Network | undefined; onClose: () => void }

/** Cannot be closed by accident: what is not copied now is gone. The env file is for `network`. */
export function NewKeyDialog({ made, network, onClose }: Props) {
  const { t } = useLingui()
  const [shown, setShown] = useState(false)
  const [stored, setStored] = useState(false)
  const { name, key } = made
  const { serviceUrl, sellerWallets } = useConfig()

  function save() {
    const text = network
      ? environmentOf(network, { serviceUrl, wallets: sellerWallets, key })
      : `PAYDESK_KEY=${key}\n`
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = url
    link.download = ENV_FILE
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  }

  return (
    <Dialog
      description={<Trans>“{name}” is shown only once.</Trans>}
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
            aria-label={shown ? t`The key` : t`Hidden key`}
            className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]"
          >
            {shown ? key : `${key.slice(0, 8)}${'•'.repeat(24)}`}
          </code>
          <Button onClick={() => setShown(!shown)} size="sm" variant="quiet">
            {shown ? <Trans>Hide</Trans> : <Trans>Show</Trans>}
          </Button>
        </div>
        <div className="flex flex-wrap gap-2">
          <CopyButton label={t`Copy key`} text value={key} />
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
