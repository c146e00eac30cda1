import { Trans } from '@lingui/react/macro'
import type { Network } from '#contract/network.ts'
import { NodeSetting } from '../../rpc/NodeSetting.tsx'
import { Dialog } from '../../ui/Dialog.tsx'

/** The endpoint of one network as in the settings, over the page that needs it. */
export function EndpointDialog({ network, onClose }: { network: Network; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} open title={<Trans>Use another endpoint</Trans>}>
      <NodeSetting network={network} />
    </Dialog>
  )
}
