const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const LINK_ID = `lnk_${'1'.repeat(22)}`
const LINK = 'A'.repeat(80)

/** For tests. For each schema that takes fields: a request it accepts, spelled as it comes over the wire. */
export const VALID_REQUESTS: Record<string, string> = {
  'transactionSend body': `{"walletAddress":"${EVM}","recipientAddress":"${EVM}","amount":0.01}`,
  'paymentSend body': `{"walletAddress":"${EVM}","recipientAddress":"${EVM}","amount":0.01}`,
  'paymentRefund body': `{"paymentId":"pay_${'1'.repeat(22)}","amount":0.01,"reason":"Out of stock."}`,
  'transactionRefund body': `{"paymentId":"pay_${'1'.repeat(22)}"}`,
  'unmatchedAssign body': `{"paymentId":"pay_${'1'.repeat(22)}","by":"Ana"}`,
  'walletCreate body': '{"family":"evm","name":"Payouts"}',
  'payoutChallenge body': `{"walletAddress":"${EVM}"}`,
  'payoutRegister body': `{"challengeId":"wch_${'1'.repeat(22)}","signature":"0xabc"}`,
  'apiKeyCreate body': '{"name":"till","scopes":["payment:read"]}',
  'apiKeyRotate body': '{"graceSeconds":3600}',
  'transactionSubmitted body': `{"paymentId":"pay_${'1'.repeat(22)}","signature":"0xabc"}`,
  'transactionReceive body': `{"walletAddress":"${EVM}","paymentProof":"e30=","expectedAmount":0.01,"priorityFee":0.001}`,
  'paymentReceive body': `{"walletAddress":"${EVM}","paymentProof":"e30=","expectedAmount":0.01}`,
  'facilitatorVerify body': '{"x402Version":2,"paymentPayload":{},"paymentRequirements":{}}',
  'facilitatorSettle body': '{"x402Version":2,"paymentPayload":{},"paymentRequirements":{}}',
  'sessionChallenge body': `{"walletAddress":"${EVM}","network":"eip155:1"}`,
  'sessionCreate body': '{"id":"sic_5KQwrPbwdL6PhXujxW37F","signature":"y"}',
  'linkCreate body': `{"network":"eip155:1","recipient":"${EVM}","amount":0.01}`,
  'linkWithdraw body': `{"id":"${LINK_ID}"}`,
  'linkRestore body': `{"id":"${LINK_ID}"}`,
  'linkRead body': `{"link":"${LINK}"}`,
  'shortLinkCreate body': `{"price":{"currency":"EUR","amount":"12.50"}}`,
  'linkOpen body': `{"link":"4fJq7Wm2Xr9K"}`,
  'linkSurplus body': `{"link":"4fJq7Wm2Xr9K","paymentId":"pay_7YqzZ3kVnWc2hXbT9mDfRs"}`,
  'linkPay body': `{"link":"${LINK}","walletAddress":"${EVM}"}`,
  'hostedIntent body': `{"network":"eip155:1","from":"${EVM}","to":"${EVM}","asset":"ETH","amount":0.01,"signer":"${EVM}"}`,
  'hostedSend body': `{"nonce":"${'a'.repeat(32)}","signature":"y"}`,
  'keyApproval body': `{"signer":"${EVM}","operation":{"kind":"create","terms":{"name":"till","scopes":["payment:read"]}}}`,
  'noteRead body': `{"paymentIds":["pay_${'1'.repeat(22)}"]}`,
  'noteWrite body': `{"paymentIds":["pay_${'1'.repeat(22)}"]}`,
  'relay body': '{"method":"GET","url":"https://shop.example/a","headers":[]}',
}
