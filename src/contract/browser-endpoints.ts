import { dashboardEndpoints, type BrowserEndpoint } from './dashboard-endpoints.ts'
import { hostedEndpoints } from './hosted-endpoints.ts'
import { keyApprovalEndpoints } from './key-approval.ts'
import { linkEndpoints } from './link-endpoints.ts'
import { noteEndpoints } from './note-endpoints.ts'
import { RelayInput, RelayReply } from './relay.ts'
import { sessionEndpoints } from './session-endpoints.ts'

/**
 * What the proxy offers a browser under `/api` beside the service's endpoints of audience `browser`.
 * A state change needs `Content-Type: application/json`, `X-Requested-By: paydesk` and an allowed `Origin`.
 */
export const browserEndpoints = {
  ...dashboardEndpoints,
  ...linkEndpoints,
  ...hostedEndpoints,
  ...keyApprovalEndpoints,
  ...noteEndpoints,
  ...sessionEndpoints,
  relay: { method: 'POST', path: '/relay', body: RelayInput, response: RelayReply },
} as const satisfies Record<string, BrowserEndpoint>
