import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Family } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { configQuery } from '../../api/queries.ts'
import { inWallet } from '../../payment-uris/uris.ts'
import { useRoute } from '../../router/use-route.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { WalletIcon } from '../../ui/WalletIcon.tsx'
import { announce } from '../../ui/announce.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { WALLET_CONNECT } from '../evm/wallet-connect-id.ts'
import { loadWalletAdapter } from '../load-adapter.ts'
import { closeConnectDialog } from '../state/accounts.ts'
import { useFoundWallets, type FoundWallet } from '../state/discover.ts'
import { walletProblem } from '../state/errors.ts'
import type { Elsewhere } from '../state/wallet-adapter.ts'

type ConnectStep =
  | { name: 'choose'; userError?: string }
  | { name: 'asking'; wallet: FoundWallet; family: Family }
  | { name: 'scanning'; wallet: FoundWallet; uri?: string }
  | { name: 'accounts'; wallet: FoundWallet; family: Family; addresses: readonly string[] }

/** Connecting, step by step. Leaving the dialog gives up on a wallet that was shown a code: it cannot come in later. */
function useConnect() {
  const [step, setStep] = useState<ConnectStep>({ name: 'choose' })
  const giveUp = useRef<AbortController>(undefined)
  useEffect(() => () => giveUp.current?.abort(), [])

  async function connect(wallet: FoundWallet, family: Family, elsewhere?: Elsewhere) {
    const id = wallet.ids[family]
    if (!id) return
    const { name } = wallet
    announce(t`Waiting for ${name}.`)
    try {
      const addresses = await (await loadWalletAdapter(family)).connect(id, elsewhere)
      if (addresses.length > 1) return setStep({ name: 'accounts', wallet, family, addresses })
      announce(t`${name} is connected.`)
      closeConnectDialog()
    } catch (error) {
      if (elsewhere?.signal.aborted) return
      const { message } = walletProblem(error, name)
      setStep({ name: 'choose', userError: message.replace(' Nothing was sent.', '') })
    }
  }

  return {
    step,
    requestAccounts(wallet: FoundWallet, family: Family) {
      setStep({ name: 'asking', wallet, family })
      void connect(wallet, family)
    },
    scan(wallet: FoundWallet) {
      const controller = new AbortController()
      giveUp.current = controller
      setStep({ name: 'scanning', wallet })
      const onUri = (uri: string) =>
        setStep((now) => (now.name === 'scanning' ? { ...now, uri } : now))
      void connect(wallet, 'evm', { onUri, signal: controller.signal })
    },
    cancel() {
      giveUp.current?.abort()
      setStep({ name: 'choose' })
    },
    async choose({ family, wallet }: Extract<ConnectStep, { name: 'accounts' }>, address: string) {
      ;(await loadWalletAdapter(family)).choose(address)
      const { name } = wallet
      announce(t`${name} is connected.`)
      closeConnectDialog()
    },
  }
}

type WalletRowProps = {
  wallet: FoundWallet
  family: Family
  busy: boolean
  onConnect: () => void
}

const labels = { evm: 'Ethereum', solana: 'Solana' } as const

/** A wallet on one family of networks: a button as a whole. */
function WalletRow({ wallet, family, busy, onConnect }: WalletRowProps) {
  return (
    <button
      aria-busy={busy || undefined}
      aria-label={label(wallet.name, labels[family])}
      className="flex min-h-14 w-full items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2.5 text-start hover:bg-hover"
      onClick={() => busy || onConnect()}
      type="button"
    >
      <WalletIcon icon={wallet.icon} large />
      <span className="min-w-0 flex-1 truncate text-sm font-medium">{wallet.name}</span>
      {busy ? (
        <Spinner />
      ) : (
        <span className="text-sm text-muted">
          {/* The name that is read out contains what is seen, in its order. */}{' '}
          <OnNetwork network={labels[family]} />
        </span>
      )}
    </button>
  )
}

function OnNetwork({ network }: { network: string }) {
  return <Trans>on {network}</Trans>
}

function label(wallet: string, network: string): string {
  return t`Connect ${wallet} on ${network}`
}

const SUGGESTED = [
  { name: 'MetaMask', href: 'https://metamask.io/download/', families: ['evm', 'solana'] },
  { name: 'Phantom', href: 'https://phantom.com/download', families: ['solana', 'evm'] },
  { name: 'Solflare', href: 'https://www.solflare.com/download/', families: ['solana'] },
] as const satisfies { name: string; href: string; families: readonly Family[] }[]

/** What to do in a browser without a wallet. */
function NoWallets({ families }: { families: readonly Family[] }) {
  return (
    <div>
      <p className="text-sm text-muted">
        <Trans>No wallet found. Install one, or use your wallet’s app.</Trans>
      </p>
      <ul className="mt-4 grid gap-2">
        {SUGGESTED.filter((wallet) =>
          wallet.families.some((family) => families.includes(family)),
        ).map(({ name, href }) => (
          <li key={name}>
            <a
              className={buttonClass({ wide: true })}
              href={href}
              rel="noopener noreferrer"
              target="_blank"
            >
              <Trans>Get {name}</Trans>
              <Icon name="external" size={14} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

const REMOTE: FoundWallet = { name: 'WalletConnect', ids: { evm: WALLET_CONNECT } }

/** One row per wallet and family, whichever of the two roads it was found on; wallets on other devices; then its account, if it offers several. */
export function ConnectDialog({ family }: { family: Family | undefined }) {
  const { data } = useQuery(configQuery)
  const offered = useMemo(
    () =>
      (['evm', 'solana'] as const).filter(
        (each) =>
          (family ?? each) === each &&
          (data?.networks.some(({ network }) => familyOf(network) === each) ?? true),
      ),
    [data, family],
  )
  const wallets = useFoundWallets().filter(({ ids }) => offered.some((each) => ids[each]))
  const { step, requestAccounts, scan, cancel, choose } = useConnect()

  // The wallet code comes while the reader looks at the list.
  useEffect(() => {
    if (data) for (const each of offered) void loadWalletAdapter(each).catch(() => undefined)
  }, [data, offered])

  const remote = data?.walletConnect && offered.includes('evm') ? REMOTE : undefined
  return (
    <Dialog
      description={descriptionOf(step)}
      onClose={closeConnectDialog}
      open
      size="sm"
      title={titleOf(step, family)}
    >
      {step.name === 'choose' && step.userError && (
        <Banner className="mb-3" role="alert" tone="warn">
          {step.userError}
        </Banner>
      )}
      {step.name === 'accounts' && (
        <AccountList
          addresses={step.addresses}
          onChoose={(address) => void choose(step, address)}
        />
      )}
      {step.name === 'scanning' && <ScanToConnect onCancel={cancel} uri={step.uri} />}
      {(step.name === 'choose' || step.name === 'asking') && (
        <>
          {wallets.length === 0 && <NoWallets families={offered} />}
          <ul className="space-y-2">
            {wallets.flatMap((wallet) =>
              offered
                .filter((each) => wallet.ids[each])
                .map((each) => (
                  <li key={wallet.ids[each]}>
                    <WalletRow
                      busy={
                        step.name === 'asking' &&
                        step.family === each &&
                        step.wallet.ids[each] === wallet.ids[each]
                      }
                      family={each}
                      onConnect={() => requestAccounts(wallet, each)}
                      wallet={wallet}
                    />
                  </li>
                )),
            )}
          </ul>
          <ElsewhereRow onScan={remote && (() => scan(remote))} open={wallets.length === 0} />
        </>
      )}
      {step.name === 'asking' && <Asking wallet={step.wallet} />}
    </Dialog>
  )
}

function Asking({ wallet: { name: walletName } }: { wallet: FoundWallet }) {
  return (
    <p className="mt-3 text-sm text-muted">
      <Trans>Approve in {walletName}</Trans>
    </p>
  )
}

function descriptionOf(step: ConnectStep): string {
  if (step.name !== 'accounts') return t`Only your address is shared.`
  const { name } = step.wallet
  return t`${name} offers several accounts.`
}

function titleOf(step: ConnectStep, family: Family | undefined): string {
  if (step.name === 'accounts') return t`Which account?`
  if (step.name === 'scanning') return t`Wallet on another device`
  if (!family) return t`Connect a wallet`
  return family === 'evm' ? t`Connect an Ethereum wallet` : t`Connect a Solana wallet`
}

/** The accounts a wallet offers, each in full: this is where someone decides which one pays. */
function AccountList({
  addresses,
  onChoose,
}: {
  addresses: readonly string[]
  onChoose: (address: string) => void
}) {
  return (
    <ul className="space-y-2">
      {addresses.map((address) => (
        <li key={address}>
          <button
            className="flex min-h-11 w-full items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2 text-start hover:bg-hover"
            onClick={() => onChoose(address)}
            type="button"
          >
            <span className="min-w-0 flex-1 font-mono text-[13px] break-all">{address}</span>
            <Icon className="shrink-0 text-muted" name="chevronRight" />
          </button>
        </li>
      ))}
    </ul>
  )
}

type ElsewhereRowProps = {
  /** Shows the WalletConnect code; undefined without a WalletConnect project id. */
  onScan: (() => void) | undefined
  /** Whether the phone options are expanded at first. */
  open: boolean
}

/** The wallet is not in this browser: on another device, or in a separate app. */
function ElsewhereRow({ onScan, open }: ElsewhereRowProps) {
  const onPhone = window.matchMedia('(pointer: coarse)').matches
  return (
    <div className="mt-4 space-y-2 border-t border-line pt-4">
      {onPhone && <OnPhone />}
      {onScan && (
        <Button onClick={onScan} wide>
          {onPhone ? <Trans>Use WalletConnect</Trans> : <Trans>Scan with another device</Trans>}
        </Button>
      )}
      {!onPhone && (
        <details className="group" open={open}>
          <summary className="touch-target flex cursor-pointer items-center gap-1.5 py-1 text-sm text-muted select-none hover:text-ink">
            <Icon
              className="transition-transform group-open:rotate-90"
              name="chevronRight"
              size={14}
            />
            <Trans>Continue on a phone</Trans>
          </summary>
          <div className="mt-2">
            <OnPhone />
          </div>
        </details>
      )}
    </div>
  )
}

/** WalletConnect: a code for a wallet on another device. The person approves there. */
function ScanToConnect({ uri, onCancel }: { uri: string | undefined; onCancel: () => void }) {
  const { t } = useLingui()
  return (
    <div className="grid justify-items-center gap-3">
      {uri === undefined ? (
        <div className="grid aspect-square w-full max-w-64 place-items-center rounded-lg border border-line bg-sunken">
          <Spinner label={t`Preparing the code`} />
        </div>
      ) : (
        <QrCode
          className="w-full max-w-64 border border-line"
          label={t`Wallet connection code`}
          value={uri}
        />
      )}
      <p className="text-center text-sm text-muted">
        <Trans>Scan and approve.</Trans>
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {uri !== undefined && (
          <>
            {window.matchMedia('(pointer: coarse)').matches && (
              <a className={buttonClass({ size: 'sm' })} href={uri} rel="noopener noreferrer">
                <Trans>Open a wallet on this phone</Trans>
              </a>
            )}
            <CopyButton label={t`Copy code as text`} text value={uri} />
          </>
        )}
        <Button onClick={onCancel} size="sm">
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </div>
  )
}

/** The same page where the person's wallet is: in the app of a wallet on this phone, or on a phone that scans the code. */
export function OnPhone() {
  const { t } = useLingui()
  const route = useRoute()
  const page = new URL(window.location.href)
  // Apps of wallets open only https; a phone cannot reach this machine's loopback at all.
  if (page.protocol !== 'https:') {
    return (
      <p className="text-sm text-muted">
        <Trans>Mobile wallets need HTTPS.</Trans>
      </p>
    )
  }
  if (window.matchMedia('(pointer: coarse)').matches) {
    // What stands after `#` there is a secret, which is no part of another server's address.
    if (route?.name === 'join')
      return (
        <p className="text-sm text-muted">
          <Trans>Open the invitation link in your wallet’s browser.</Trans>
        </p>
      )
    return (
      <ul className="grid gap-2">
        {(['MetaMask', 'Phantom'] as const).map((wallet) => (
          <li key={wallet}>
            <a
              className={buttonClass({ wide: true })}
              href={inWallet[wallet](page)}
              rel="noopener noreferrer"
            >
              <Trans>Open this page in {wallet}</Trans>
              <Icon name="external" size={14} />
            </a>
          </li>
        ))}
      </ul>
    )
  }
  return (
    <div className="grid justify-items-center gap-2">
      <QrCode
        className="w-full max-w-52 border border-line"
        label={t`Code for ${page.host}`}
        value={page.href}
      />
      <p className="text-center text-sm text-muted">
        <Trans>Scan with a phone wallet.</Trans>
      </p>
    </div>
  )
}
