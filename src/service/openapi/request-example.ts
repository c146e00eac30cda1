import type { EndpointReply, EndpointRequest } from '#contract/endpoints.ts'

type Example = { request: EndpointRequest<'requestList'>; reply: EndpointReply<'requestList'> }

/** A request of a key that was refused. */
export function requestExample(keyId: string, at: number): Example {
  return {
    request: { query: { result: 'error' } },
    reply: {
      success: true,
      requests: [
        {
          id: '4711',
          requestId: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
          keyId: keyId,
          at,
          method: 'POST',
          path: '/payment/send',
          endpoint: 'paymentSend',
          status: 400,
          code: 'INVALID_PARAMETERS',
          durationMs: 3,
          request: '{"recipientAddress":"0x00","amount":0.00001,"metadata":"[hidden]"}',
          response:
            '{"error":{"code":"INVALID_PARAMETERS","details":{"amount":"Expected at least 0.001."}}}',
          skipped: 0,
        },
      ],
      nextCursor: null,
    },
  }
}
