import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Network } from '#contract/network.ts'
import type { Viewer } from '../../api/queries.ts'
import { useConfig } from '../../api/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { ENV_FILE, environmentOf, receiveServer, RUN_COMMANDS } from './receive-server.ts'

const FILES = ['server.ts', ENV_FILE, 'Shell'] as const
type File = (typeof FILES)[number]

type Props = {
  viewer: Viewer
  network: Network | undefined
  onChoose: (network: Network | undefined) => void
}

/**
 * A whole server that is paid, with the reader's service, network and wallet. The key is a
 * placeholder: this page never has one.
 */
export function TakePaymentCard({ viewer, network: chosen, onChoose }: Props) {
  const { t } = useLingui()
  const { serviceUrl, networks, sellerWallets } = useConfig()
  const [file, setFile] = useState<File>('server.ts')
  if (!chosen) return null
  const wallets = viewer.wallets === 'all' ? sellerWallets : viewer.wallets
  const text =
    file === 'server.ts'
      ? receiveServer(chosen)
      : file === ENV_FILE
        ? environmentOf(chosen, { serviceUrl, wallets })
        : RUN_COMMANDS
  return (
    <Card
      action={
        serviceUrl && (
          <a
            className="touch-target inline-flex items-center gap-1.5 text-sm text-accent-ink underline underline-offset-4"
            href={`${serviceUrl}/docs/reference`}
            rel="noopener noreferrer"
            target="_blank"
          >
            <Trans>API reference</Trans> <Icon name="external" size={14} />
          </a>
        )
      }
      title={<Trans>Accept a payment</Trans>}
    >
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Segmented
          label={t`File`}
          onChange={setFile}
          options={FILES.map((value) => ({ value, label: value }))}
          value={file}
        />
        {networks.length > 1 && (
          <Field label={<Trans>Network</Trans>}>
            <Select
              onChange={(event) =>
                onChoose(networks.find(({ network }) => network === event.target.value))
              }
              value={chosen.network}
            >
              {networks.map(({ network, name }) => (
                <option key={network} value={network}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
        )}
      </div>
      <pre
        aria-label={t`Example`}
        className="mt-3 max-h-96 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs whitespace-pre"
        role="region"
        tabIndex={0}
      >
        <code>{text}</code>
      </pre>
      <div className="mt-3 flex items-center justify-between gap-3">
        <CopyButton label={t`Copy`} text value={text} />
        {!serviceUrl && (
          <span className="text-xs text-muted">
            <Trans>API reference</Trans> <code>/docs/reference</code>
          </span>
        )}
      </div>
    </Card>
  )
}
