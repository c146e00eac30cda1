import { Trans } from '@lingui/react/macro'
import { Component, type ReactNode } from 'react'
import type { RouteName } from '../router/paths.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorState } from '../ui/ErrorState.tsx'
import { forgetPage } from './pages.ts'

type Props = { /** None of an address that nothing is at. */ name?: RouteName; children: ReactNode }

/** A page that breaks, or whose code cannot be fetched, takes nothing else down. */
export class PageBoundary extends Component<Props, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  retry = (): void => {
    if (this.props.name) forgetPage(this.props.name)
    this.setState({ error: null })
  }

  override render(): ReactNode {
    if (!this.state.error) return this.props.children
    return (
      <ErrorState
        action={
          <>
            <Button onClick={this.retry}>
              <Trans>Try again</Trans>
            </Button>
            <Button onClick={() => location.reload()}>
              <Trans>Reload</Trans>
            </Button>
          </>
        }
        body={
          <Trans>
            Your payments are not touched by this. If it stays after a reload, tell the operator
            what you did.
          </Trans>
        }
        detail={this.state.error.message}
        title={<Trans>This page could not be shown</Trans>}
      />
    )
  }
}
