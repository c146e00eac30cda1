// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Tokens as they are met in the field, for tests: each behaves like a plain ERC-20 token but for one oddity.
contract OddToken {
    enum Oddity {
        None,
        /// Keeps one percent of every transfer, and says so in its events.
        KeepsAPart,
        /// Keeps one percent, and says that everything arrived.
        KeepsAPartSecretly,
        /// Moves nothing and returns false, as tokens before EIP-20 was final do.
        ReturnsFalse,
        /// Moves and returns nothing, as USDT does on Ethereum.
        ReturnsNothing,
        /// Has an issuer's list of accounts it does not serve, as USDC has.
        BlocksRecipient,
        /// Mints interest to both sides on the occasion, as lending tokens do.
        PaysInterest
    }

    event Transfer(address indexed from, address indexed to, uint256 value);

    string public name = "Odd Token";
    string public symbol = "ODD";
    uint8 public immutable decimals;
    Oddity public immutable oddity;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(Oddity oddity_, uint8 decimals_, address holder, uint256 supply) {
        oddity = oddity_;
        decimals = decimals_;
        mint(holder, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (oddity == Oddity.ReturnsFalse) return false;
        require(oddity != Oddity.BlocksRecipient, "Blacklistable: account is blacklisted");
        require(balanceOf[msg.sender] >= value, "transfer amount exceeds balance");
        bool keeps = oddity == Oddity.KeepsAPart || oddity == Oddity.KeepsAPartSecretly;
        uint256 kept = keeps ? value / 100 : 0;
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value - kept;
        balanceOf[address(this)] += kept;
        emit Transfer(msg.sender, to, oddity == Oddity.KeepsAPartSecretly ? value : value - kept);
        if (oddity == Oddity.KeepsAPart) emit Transfer(msg.sender, address(this), kept);
        if (oddity == Oddity.PaysInterest) {
            mint(msg.sender, 3);
            mint(to, 4);
        }
        if (oddity == Oddity.ReturnsNothing) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }

    function mint(address to, uint256 value) private {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}
